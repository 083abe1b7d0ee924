"""Many rankings into one."""
