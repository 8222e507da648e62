// Package dashboards contains only tests: of the Grafana dashboards, recording rules, alerts and provisioning in this
// directory. go generate writes the files from package internal/dashboard.
package dashboards

//go:generate go test . -run MatchTheTable -update
