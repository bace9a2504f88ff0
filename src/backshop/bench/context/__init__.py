"""Context items: what every call is told about the company, the department and the situation."""
