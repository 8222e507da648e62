// Package gameday raises alerts on purpose, and checks that each one fires, leads to a trace, and resolves. It
// implements "mcpotel gameday".
//
// A [Drill] is a client and a server in this process that fail until their alert fires, and then work again. [Drills]
// returns a drill for each alert of the dashboards. [Run] runs several drills at once, each under its own name, and
// checks the results in an alerting system ([Alerts]) and a trace backend ([Traces]).
package gameday
