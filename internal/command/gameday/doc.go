// Package gameday raises alerts on purpose, and looks whether each fires, leads to a trace, and ends. It is behind
// "mcpotel gameday".
//
// A [Drill] is a client and a server in this process of which something goes wrong until its alert fires, and is right
// again from then on. [Drills] has one for each alert of the dashboards. [Run] plays several at once, each under a name
// of its own, and asks an alerting system ([Alerts]) and a trace backend ([Traces]) what has come of it.
package gameday
