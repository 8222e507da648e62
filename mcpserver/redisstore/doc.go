// Package redisstore stores the sessions, events and tasks of MCP servers in Redis. Several processes behind one
// address can then serve the same clients, and each process may be killed at any time.
//
// Start with [New]:
//
//	store := redisstore.New(redis.NewClient(&redis.Options{Addr: "redis:6379"}), nil)
//	defer store.Close()
//	handler := server.HTTPHandler(&mcpserver.HTTPOptions{Sessions: store.Sessions(), Events: store.Events()})
//
// The package needs Redis 6.2 or later, or a compatible server: standalone, with Sentinel or as a cluster. In a cluster
// all keys of one session share a hash tag. All changes are atomic commands or scripts. Processes notify each other of
// changes by pub/sub, which may lose messages. Readers therefore check for changes after each notification, after a new
// subscription, and every few seconds. Each process has one connection for notifications about sessions and events,
// however many streams it reads, and one more connection for each server with tasks.
//
// Read this before production use:
//
//   - Redis must not evict keys: set maxmemory-policy to noeviction, and give Redis enough memory for the limits in
//     [Options].
//   - Redis may lose writes in a crash or a failover: depending on its settings up to a second of them, or everything.
//     After that, a client without its session opens a new one, and a client without its events gets an error about
//     the gap.
//   - Redis stores the data of clients unencrypted, and keys contain the session ids of the server unchanged. An
//     attacker who can read the keys can take over a session, unless [mcpserver.HTTPOptions] Principal prevents that.
//   - Ids that no server generates are stored as their SHA-256: long ones, and ids with characters other than letters,
//     digits, '-', '_' and '.'.
package redisstore
