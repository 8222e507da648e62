// Package chaos breaks a connection on purpose, by a plan. It delays, loses, duplicates and damages messages,
// rejects requests and ends connections, to test how a client, a host, a dashboard and an alert react.
//
//	kind       effect                                                             applies to
//	latency    the message is delayed by Delay plus up to Jitter                  request, answer, notification
//	drip       it arrives at Rate bytes a second; later messages queue behind it  request, answer, notification
//	drop       it is lost                                                         request, answer, notification
//	duplicate  it arrives twice                                                   answer, notification
//	reorder    it arrives after the next one, or after Delay                      answer, notification
//	truncate   its end is missing                                                 answer, notification
//	garbage    a frame of random bytes arrives before it                          answer, notification
//	oversize   it counts as above the frame limit, see Config.SkipOversize        answer, notification
//	error      it is replaced by a JSON-RPC error with Code                       answer
//	busy       it is rejected unread, as with HTTP 503 or 429 and Retry-After     request
//	expire     the server has forgotten the session and answers 404               request
//	freeze     nothing passes in either direction, for Delay or forever           request, answer, notification
//	cut        the connection breaks; over HTTP only the exchange of the request  request, answer, notification
//	death      the server process is killed; without a process, like cut          request, answer, notification
//	refuse     the connection is refused                                          (an attempt to connect)
//
// The faults are a function of the plan, its seed and the messages so far: the same messages in the same order get
// the same faults. Only After, For and the delays depend on the clock.
//
// Each injected fault is logged to [transport.Config.Logger] as a record mcp_client.fault.injected, and its kind is the
// attribute mcp_client.fault.kind on the span of its request.
package chaos
