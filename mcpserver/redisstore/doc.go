// Package redisstore keeps the sessions and events of MCP servers in Redis, so that several processes behind one
// address serve the same clients, and any of them may be killed.
//
// Start with [New]:
//
//	store := redisstore.New(redis.NewClient(&redis.Options{Addr: "redis:6379"}), nil)
//	defer store.Close()
//	handler := server.HTTPHandler(&mcpserver.HTTPOptions{Sessions: store.Sessions(), Events: store.Events()})
//
// It needs Redis 6.2 or later, or what speaks like it, alone, with Sentinel or as a cluster: all keys of one session
// have one hash tag. All changes are made by commands and scripts that are atomic. Processes tell each other of them by
// pub/sub, which may lose messages: so readers look when they are told, when they have subscribed anew, and every few
// seconds. Each process has one connection for that, however many streams it reads.
//
// What may surprise:
//
//   - Keys must not be evicted: maxmemory-policy should be noeviction, or spare keys without expiry, and Redis sized
//     for what [Options] allow each session.
//   - What Redis loses in a crash or a failover is lost: by its own settings up to a second, or all. Clients whose
//     session is gone open another; those whose events are gone are told that there is a gap.
//   - What clients send is in Redis as it is, and session ids are part of keys as the server makes them. Who can read
//     them can take over a session, but for what [mcpserver.HTTPOptions] Principal prevents.
//   - Ids in keys that no server has made, long ones and those with other characters than letters, digits, '-', '_' and
//     '.', are there as their SHA-256.
package redisstore
