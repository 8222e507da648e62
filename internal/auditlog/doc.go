// Package auditlog writes and verifies audit files: one line of JSON for each record, in a chain of hashes. A [Log]
// appends records and hashes the arguments of calls. [Verify] checks a file. Package instrument decides what a record
// holds; package mcpclient/telemetry/audit is the part for users.
//
// A line has the members sequence, previous, time and event, the fields of the record, and hash:
//
//	{"sequence":2,"previous":"5f…","time":"2026-07-28T09:32:51.1Z","event":"mcp_server.audit.call",…,"hash":"9c…"}
//
// hash is the SHA-256 of the line up to the comma before "hash". previous is the hash of the line before, and 64 zeros
// in the first line. So a change of a line changes every later hash.
//
// Three more events are about the file itself:
//
//	opened  a process opened the file. unclean means that the process before ended without closing it, so that the calls
//	        in flight have no record. torn_bytes and torn_sha256 describe an incomplete line that such a process has
//	        left before this line, and that stays in the file
//	closed  the process closed the file
//	gap     lost records could not be written
package auditlog
