// Package dashboards holds nothing but tests: of the Grafana dashboards, the recording rules, the alerts and the
// provisioning in this folder. The files are written from package internal/dashboard.
package dashboards

//go:generate go test . -run MatchTheTable -update
