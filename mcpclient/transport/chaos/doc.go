// Package chaos breaks a connection on purpose, by a plan: it delays, loses, doubles and damages messages, turns
// requests away and ends connections, to see what a client, a host, a dashboard and an alert make of it.
//
//	kind       what happens                                                       to
//	latency    it comes later by Delay, and up to Jitter more                     request, answer, notification
//	drip       it comes as slowly as Rate says; what follows queues behind it     request, answer, notification
//	drop       it is lost                                                         request, answer, notification
//	duplicate  it comes twice                                                     answer, notification
//	reorder    it comes behind the next one, or after Delay                       answer, notification
//	truncate   its end is missing                                                 answer, notification
//	garbage    a frame of random bytes comes before it                            answer, notification
//	oversize   it is taken for one over the frame limit, see Config.SkipOversize  answer, notification
//	error      it is replaced by a JSON-RPC error with Code                       answer
//	busy       it is turned away unread, as with HTTP 503 or 429 and Retry-After  request
//	expire     it is answered as by a server that has forgotten the session: 404  request
//	freeze     nothing passes either way, for Delay or as long as it is open      request, answer, notification
//	cut        the connection breaks; over HTTP only the exchange of the request  request, answer, notification
//	death      the server's process is killed; a server without one is cut        request, answer, notification
//	refuse     the connection is not made                                         (an attempt to connect)
//
// Which message is hit is a function of the plan, its seed and the messages that went before: the same messages in the
// same order meet the same faults. Only the faults that name times depend on the clock.
//
// Each fault that is done is a log record mcp_client.fault.injected at [transport.Config.Logger], and an attribute
// mcp_client.fault.kind on the span of the request that it hits.
package chaos
