package stack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"reflect"
)

// Ports are the ports of the stack, all on 127.0.0.1. A zero port means a free one.
type Ports struct {
	AgentGRPC, AgentHTTP       int // OTLP from services
	AgentHealth, AgentMetrics  int // health check; the agent's own metrics
	GatewayGRPC, GatewayHTTP   int // OTLP from agents
	GatewayHealth              int
	GatewayMetrics             int // the gateway's own metrics
	GatewayPrometheus          int // metrics of the services and metrics derived from spans, for Prometheus
	JaegerGRPC                 int // OTLP
	JaegerUI, JaegerQuery      int // HTTP API and UI; the same API over gRPC
	JaegerHealth, JaegerMetric int
	Prometheus                 int // API

	// Ports of the second gateway, if there is one.
	SecondGRPC, SecondHTTP, SecondHealth, SecondMetrics, SecondPrometheus int
}

// UsualPorts returns the well-known ports, for interactive use.
func UsualPorts() Ports {
	return Ports{
		AgentGRPC: 4317, AgentHTTP: 4318, AgentHealth: 13133, AgentMetrics: 8888,
		GatewayGRPC: 24317, GatewayHTTP: 24318, GatewayHealth: 23133, GatewayMetrics: 28888, GatewayPrometheus: 8889,
		JaegerGRPC: 14317, JaegerUI: 16686, JaegerQuery: 16685, JaegerHealth: 13233, JaegerMetric: 18888,
		Prometheus: 9090,
	}
}

// Ports are assigned in blocks below the range from which kernels choose ports of connections. The program that listens
// on the first port of a block owns the whole block, so that stacks do not disturb each other.
const (
	firstPort, lastPort = 20_000, 32_000
	block               = 32
)

// fill assigns the zero ports. This process owns the block until the returned listener is closed.
func (p *Ports) fill() (net.Listener, error) {
	for range 200 {
		base := firstPort + block*rand.IntN((lastPort-firstPort)/block)
		owner, err := listen(base)
		if err != nil {
			continue
		}
		chosen := *p
		if chosen.take(base) {
			*p = chosen
			return owner, nil
		}
		owner.Close()
	}
	return nil, errors.New("no free ports")
}

// take assigns the zero ports from a block, and reports whether all of them are free.
func (p *Ports) take(base int) bool {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		if v.Field(i).Int() != 0 {
			continue
		}
		port := base + 1 + i
		l, err := listen(port)
		if err != nil {
			return false
		}
		l.Close()
		v.Field(i).SetInt(int64(port))
	}
	return true
}

func listen(port int) (net.Listener, error) { return net.Listen("tcp", address(port)) }

// address returns the address of a port on loopback.
func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
