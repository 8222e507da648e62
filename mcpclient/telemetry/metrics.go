package telemetry

import (
	"reflect"
	"slices"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// instruments are the metrics of the schema. Those of the conventions go by who sends a message and who receives it,
// ours by the process.
type instruments struct {
	clientDuration metric.Float64Histogram
	serverDuration metric.Float64Histogram

	client sideInstruments
	server sideInstruments

	asClient, asServer role // with these instruments

	tombstones  metric.Int64UpDownCounter
	transitions metric.Int64Counter
	attempt     metric.Float64Histogram
	backoff     metric.Float64Histogram
	lookups     metric.Int64Counter       // in the cache of results
	tasks       metric.Int64UpDownCounter // of servers
	task        metric.Float64Histogram
	state       metric.Int64ObservableUpDownCounter
	queueLength metric.Int64ObservableGauge

	serverQueueLength metric.Int64ObservableGauge
	sessions          metric.Int64ObservableUpDownCounter // of servers
}

// sideInstruments are the metrics that a client and a server both have.
type sideInstruments struct {
	active        metric.Int64UpDownCounter // requests sent
	retries       metric.Int64Counter       // nil for a server, which sends once
	handlers      metric.Int64UpDownCounter // requests being answered
	panics        metric.Int64Counter
	notifications metric.Int64Counter
	violations    metric.Int64Counter
	dropped       metric.Int64Counter
	size          metric.Int64Histogram
	decode        metric.Float64Histogram
	queueWait     metric.Float64Histogram
	session       metric.Float64Histogram
	lost          metric.Int64Counter // notifications dropped
	streams       metric.Int64UpDownCounter
	stream        metric.Float64Histogram
}

// shared are the instruments of the meter that was used last. A program has one provider, and so one meter, but may well make
// a Telemetry for each of a thousand clients.
var shared atomic.Pointer[metered]

type metered struct {
	meter metric.Meter
	ins   *instruments
}

// instrumentsOf returns our instruments of a meter.
func instrumentsOf(m metric.Meter) *instruments {
	if !reflect.ValueOf(m).Comparable() {
		return newInstruments(m)
	}
	if last := shared.Load(); last != nil && last.meter == m {
		return last.ins
	}
	ins := newInstruments(m)
	shared.Store(&metered{m, ins})
	return ins
}

func newInstruments(m metric.Meter) *instruments {
	ins := &instruments{
		clientDuration: histogram(m.Float64Histogram, metricClientDuration),
		serverDuration: histogram(m.Float64Histogram, metricServerDuration),
		client: sideInstruments{
			active:        build(m.Int64UpDownCounter, metricClientActive),
			retries:       build(m.Int64Counter, metricClientRetries),
			handlers:      build(m.Int64UpDownCounter, metricClientHandlers),
			panics:        build(m.Int64Counter, metricClientPanics),
			notifications: build(m.Int64Counter, metricClientNotifications),
			violations:    build(m.Int64Counter, metricClientViolations),
			dropped:       build(m.Int64Counter, metricClientDropped),
			size:          histogram(m.Int64Histogram, metricClientMessageSize),
			decode:        histogram(m.Float64Histogram, metricClientDecode),
			queueWait:     histogram(m.Float64Histogram, metricClientQueueWait),
			session:       histogram(m.Float64Histogram, metricClientSession),
			lost:          build(m.Int64Counter, metricClientNotificationsDropped),
			streams:       build(m.Int64UpDownCounter, metricClientStreams),
			stream:        histogram(m.Float64Histogram, metricClientStream),
		},
		server: sideInstruments{
			active:        build(m.Int64UpDownCounter, metricServerAsks),
			handlers:      build(m.Int64UpDownCounter, metricServerHandlers),
			panics:        build(m.Int64Counter, metricServerPanics),
			notifications: build(m.Int64Counter, metricServerNotifications),
			violations:    build(m.Int64Counter, metricServerViolations),
			dropped:       build(m.Int64Counter, metricServerDropped),
			size:          histogram(m.Int64Histogram, metricServerMessageSize),
			decode:        histogram(m.Float64Histogram, metricServerDecode),
			queueWait:     histogram(m.Float64Histogram, metricServerQueueWait),
			session:       histogram(m.Float64Histogram, metricServerSession),
			lost:          build(m.Int64Counter, metricServerNotificationsDropped),
			streams:       build(m.Int64UpDownCounter, metricServerStreams),
			stream:        histogram(m.Float64Histogram, metricServerStream),
		},
		tombstones:  build(m.Int64UpDownCounter, metricClientTombstones),
		transitions: build(m.Int64Counter, metricClientTransitions),
		attempt:     histogram(m.Float64Histogram, metricClientAttempt),
		backoff:     histogram(m.Float64Histogram, metricClientBackoff),
		lookups:     build(m.Int64Counter, metricClientCache),
		tasks:       build(m.Int64UpDownCounter, metricServerTasks),
		task:        histogram(m.Float64Histogram, metricServerTask),
		state:       build(m.Int64ObservableUpDownCounter, metricClientState),
		queueLength: build(m.Int64ObservableGauge, metricClientQueueLength),

		serverQueueLength: build(m.Int64ObservableGauge, metricServerQueueLength),
		sessions:          build(m.Int64ObservableUpDownCounter, metricServerSessions),
	}
	ins.asClient = role{ClientSide, &ins.client, &clientKeys, &clientEvents}
	ins.asServer = role{ServerSide, &ins.server, &serverKeys, &serverEvents}
	return ins
}

// build makes an instrument from its row of the schema. A provider that does not like it says so to OpenTelemetry's error
// handler; by its contract the instrument works all the same.
func build[O, I any](create func(string, ...O) (I, error), name string) I {
	return buildWith(create, rowOf(name))
}

func histogram[O, I any](create func(string, ...O) (I, error), name string) I {
	row := rowOf(name)
	return buildWith(create, row, any(metric.WithExplicitBucketBoundaries(row.Buckets...)).(O))
}

func buildWith[O, I any](create func(string, ...O) (I, error), row *Metric, opts ...O) I {
	opts = append(opts, any(metric.WithUnit(row.Unit)).(O), any(metric.WithDescription(row.Brief)).(O))
	i, err := create(row.Name, opts...)
	if err != nil {
		otel.Handle(err)
	}
	return i
}

func rowOf(name string) *Metric {
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		panic("telemetry: the schema has no metric " + name)
	}
	return &metrics[i]
}
