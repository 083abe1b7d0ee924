"""What a service needs to be run: limits, keys, logs, metrics, traces."""
