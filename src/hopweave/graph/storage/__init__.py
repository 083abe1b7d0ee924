"""Where a graph is kept: the ledger of contributions and the arrays that are walked."""
