"""Going back and forth in a conversation: rewind, redo, answering again, going along to a fork."""
