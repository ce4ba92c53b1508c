"""What one would do without a proof: other ways to find a decision tree, with the same queries to spend."""
