"""Where the public MemScope has its integrations: scripts that import them find these."""
