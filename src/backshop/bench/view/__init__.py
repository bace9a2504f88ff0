"""A bench's folders on disk: made from its trees, described, scanned, rescued."""
