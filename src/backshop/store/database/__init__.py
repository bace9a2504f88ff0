"""SQLite and PostgreSQL behind one face: connections, statements, news, small shared rows."""
