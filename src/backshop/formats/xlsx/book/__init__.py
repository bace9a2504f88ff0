"""A workbook's parts: sheets and cells as bytes, formats, edits spliced into them."""
