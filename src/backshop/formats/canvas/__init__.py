"""Pages drawn by ourselves: figures on a canvas, their faces, as SVG and as PNG (F43)."""
