"""The files of a bench as prompts see them: complete, listed within limits, mounted."""
