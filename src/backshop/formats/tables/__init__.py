"""Tables of delimited files and sheets, asked with SQL."""
