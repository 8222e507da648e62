// Package peers measures other MCP libraries for Go in the same way as benchmarks/workload measures ours: the official
// SDK and mcp-go. It is a separate module, so that this project does not depend on them.
//
// Each library is used as its documentation shows, with its options for the measured case: JSON instead of streams, no
// sessions, a connection pool for all callers. They have no telemetry; ours has telemetry, without an SDK. Comments
// note where a peer could be faster, or does less than ours.
//
// The command in cmd/compare runs the benchmarks of the table side by side and writes the table.
package peers
