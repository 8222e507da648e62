// Package peers measures other MCP libraries for Go as benchmarks/workload measures ours: the official SDK and mcp-go.
// It is a module of its own, so that they are no dependencies of this project.
//
// Each is used as its documentation shows its users, with the options it has for what is measured: JSON instead of
// streams, no sessions, a pool of connections that is as large as the callers are many. None has telemetry, ours has
// (without an SDK). Where a peer could be made faster, or does less than ours, a comment says so.
//
// The command in cmd/compare runs all benchmarks side by side and writes the tables.
package peers
