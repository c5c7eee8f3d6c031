"""Passes run a workload and measure one thing each: time, operators, flops, bytes of products, memory."""
