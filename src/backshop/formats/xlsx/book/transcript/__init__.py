"""Workbooks that are no xlsx packages, put down as one in memory, so that all else reads them."""
