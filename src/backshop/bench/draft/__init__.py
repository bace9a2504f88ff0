"""The Draft: written in batches, brought onto a moved Published, published or discarded."""
