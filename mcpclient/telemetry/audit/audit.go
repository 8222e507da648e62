// Package audit opens audit logs for clients, servers and proxies: one record for each tools/call, in an append-only
// file. Pass a [Log] to telemetry.WithAudit.
//
// The lines of the file form a chain of hashes, and each record goes to the log exporter as well, with the head of the
// chain. So a changed, removed or truncated file does not fit the exported heads. The command "mcpotel audit verify"
// checks a file: https://github.com/mcpotel/mcpotel/blob/main/docs/guides/audit.md.
package audit

import "github.com/mcpotel/mcpotel/internal/auditlog"

// Log is an audit log. It is safe for concurrent use, and any number of clients and servers of a process may share it.
type Log auditlog.Log

// Open opens the audit log in the file at path, and continues the chain of an existing file. Without a path, records are
// only exported.
//
// key keeps readers of the records from guessing arguments. It needs at least 16 bytes of secret, random data. Programs
// with the same key write the same hash for the same arguments.
//
// A file has one writer: Open returns an error if another Log, in this or another process, has the file open. A line
// that a crash has left incomplete stays in the file; the next line reports it.
func Open(path string, key []byte) (*Log, error) {
	l, err := auditlog.Open(path, key)
	return (*Log)(l), err
}

// Close flushes the file to the disk and closes it. Records of later calls are lost, and counted as lost. Every file that
// was not closed shows, when it is opened again, that calls in flight may be missing.
func (l *Log) Close() error { return (*auditlog.Log)(l).Close() }
