"""Documents as they look: the pictures that the viewer and the review show first (U8)."""
