package instrument

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// instruments holds the instruments of the schema. In the names of the semantic conventions, client means the sender of
// a message, and server the receiver. In the names of our own instruments, client means a [Client], and server a
// [Server].
type instruments struct {
	clientDuration metric.Float64Histogram
	serverDuration metric.Float64Histogram

	client sideInstruments
	server sideInstruments

	asClient, asServer role // the roles that use these instruments

	durations                  [2]series.Budget // by direction; shared by clients and servers
	clientPlaces, serverPlaces places
	names                      series.Census
	groups                     series.Groups
	gauges                     gauges

	tombstones  metric.Int64UpDownCounter
	transitions metric.Int64Counter
	attempt     metric.Float64Histogram
	backoff     metric.Float64Histogram
	lookups     metric.Int64Counter       // lookups in the cache of results
	tasks       metric.Int64UpDownCounter // for servers
	task        metric.Float64Histogram
	policy      metric.Int64Counter // for proxies
	state       metric.Int64ObservableUpDownCounter
	queueLength metric.Int64ObservableGauge
	serverInfo  metric.Int64ObservableUpDownCounter

	processMemory, processes metric.Int64ObservableUpDownCounter
	processTime              metric.Float64ObservableCounter
	processUptime            metric.Float64ObservableGauge

	toolsSize, toolsTokens metric.Int64ObservableGauge // for whole lists
	toolSize, toolTokens   metric.Int64ObservableGauge // for each definition
	toolResult             metric.Int64Histogram
	toolLoops              metric.Int64Counter

	toolChanges metric.Int64Counter
	changeGaps  metric.Int64Counter

	servers     implementations[*implementation] // servers of clients
	executeTool metric.Float64Histogram

	serverQueueLength metric.Int64ObservableGauge
	sessions          metric.Int64ObservableUpDownCounter // for servers
	clientRequests    metric.Int64ObservableCounter

	refused                      metric.Int64Counter // for servers
	capacityUsage, capacityLimit metric.Int64ObservableGauge
	memoryUsage, memoryLimit     metric.Int64ObservableGauge
}

// sideInstruments holds the instruments that both clients and servers have.
type sideInstruments struct {
	active        metric.Int64UpDownCounter // requests sent
	retries       metric.Int64Counter       // nil for a server, because servers do not retry
	handlers      metric.Int64UpDownCounter // requests being answered
	panics        metric.Int64Counter
	notifications metric.Int64Counter
	violations    metric.Int64Counter
	dropped       metric.Int64Counter
	size          metric.Int64Histogram
	decode        metric.Float64Histogram
	queueWait     metric.Float64Histogram
	session       metric.Float64Histogram
	lost          metric.Int64Counter // dropped notifications
	streams       metric.Int64UpDownCounter
	stream        metric.Float64Histogram
	auditLosses   metric.Int64Counter
	startTime     startTime
}

// recent holds the instruments of the most recently created meters, latest last. A program has one provider and so one
// meter. But it may create a Telemetry for each of a thousand clients, some of them before it sets the provider. All of
// these share one budget.
var recent struct {
	mu  sync.Mutex
	all []metered // guarded by mu
}

// maxRecent bounds the number of remembered meters.
const maxRecent = 4

type metered struct {
	provider metric.MeterProvider
	meter    metric.Meter
	ins      *instruments
}

// is reports whether r holds the instruments of the meter m. r may come from the placeholder provider of package otel.
// After the program sets a provider, the placeholder returns the meter of that provider, and its own earlier meter
// passes all measurements on to it. Then r holds the instruments of both meters.
func (r *metered) is(m metric.Meter) bool {
	if r.meter == m {
		return true
	}
	if isPlaceholder(r.provider) {
		now := ourMeter(r.provider)
		return reflect.ValueOf(now).Comparable() && now == m
	}
	return false
}

func ourMeter(p metric.MeterProvider) metric.Meter {
	return p.Meter(telemetry.ScopeName, metric.WithInstrumentationVersion(telemetry.Version),
		metric.WithSchemaURL(names.SchemaURL))
}

// instrumentsOf returns our instruments of a provider, from recent if possible.
func instrumentsOf(p metric.MeterProvider) *instruments {
	m := ourMeter(p)
	if !reflect.ValueOf(m).Comparable() {
		return newInstruments(m)
	}
	recent.mu.Lock()
	defer recent.mu.Unlock()
	if i := slices.IndexFunc(recent.all, func(r metered) bool { return r.is(m) }); i >= 0 {
		return recent.all[i].ins
	}
	if len(recent.all) == maxRecent {
		recent.all = slices.Delete(recent.all, 0, 1)
	}
	ins := newInstruments(m)
	recent.all = append(recent.all, metered{p, m, ins})
	return ins
}

func newInstruments(m metric.Meter) *instruments {
	ins := &instruments{
		clientDuration: histogram(m.Float64Histogram, names.MetricMCPClientOperationDuration),
		serverDuration: histogram(m.Float64Histogram, names.MetricMCPServerOperationDuration),
		client: sideInstruments{
			active:        build(m.Int64UpDownCounter, names.MetricMCPClientActiveRequests),
			retries:       build(m.Int64Counter, names.MetricMCPClientTransportSendRetries),
			handlers:      build(m.Int64UpDownCounter, names.MetricMCPClientActiveHandlers),
			panics:        build(m.Int64Counter, names.MetricMCPClientHandlerPanics),
			notifications: build(m.Int64Counter, names.MetricMCPClientNotificationMessages),
			violations:    build(m.Int64Counter, names.MetricMCPClientProtocolViolations),
			dropped:       build(m.Int64Counter, names.MetricMCPClientResponseDrops),
			size:          histogram(m.Int64Histogram, names.MetricMCPClientMessageSize),
			decode:        histogram(m.Float64Histogram, names.MetricMCPClientMessageDecodeDuration),
			queueWait:     histogram(m.Float64Histogram, names.MetricMCPClientSendQueueWait),
			session:       histogram(m.Float64Histogram, names.MetricMCPClientSessionDuration),
			lost:          build(m.Int64Counter, names.MetricMCPClientNotificationDrops),
			streams:       build(m.Int64UpDownCounter, names.MetricMCPClientStreamActive),
			stream:        histogram(m.Float64Histogram, names.MetricMCPClientStreamDuration),
			auditLosses:   build(m.Int64Counter, names.MetricMCPClientAuditLosses),
		},
		server: sideInstruments{
			active:        build(m.Int64UpDownCounter, names.MetricMCPServerActiveAsks),
			handlers:      build(m.Int64UpDownCounter, names.MetricMCPServerActiveRequests),
			panics:        build(m.Int64Counter, names.MetricMCPServerHandlerPanics),
			notifications: build(m.Int64Counter, names.MetricMCPServerNotificationMessages),
			violations:    build(m.Int64Counter, names.MetricMCPServerProtocolViolations),
			dropped:       build(m.Int64Counter, names.MetricMCPServerResponseDrops),
			size:          histogram(m.Int64Histogram, names.MetricMCPServerMessageSize),
			decode:        histogram(m.Float64Histogram, names.MetricMCPServerMessageDecodeDuration),
			queueWait:     histogram(m.Float64Histogram, names.MetricMCPServerSendQueueWait),
			session:       histogram(m.Float64Histogram, names.MetricMCPServerSessionDuration),
			lost:          build(m.Int64Counter, names.MetricMCPServerNotificationDrops),
			streams:       build(m.Int64UpDownCounter, names.MetricMCPServerStreamActive),
			stream:        histogram(m.Float64Histogram, names.MetricMCPServerStreamDuration),
			auditLosses:   build(m.Int64Counter, names.MetricMCPServerAuditLosses),
		},
		tombstones:  build(m.Int64UpDownCounter, names.MetricMCPClientTombstoneKept),
		transitions: build(m.Int64Counter, names.MetricMCPClientConnectionTransitions),
		attempt:     histogram(m.Float64Histogram, names.MetricMCPClientConnectionAttemptDuration),
		backoff:     histogram(m.Float64Histogram, names.MetricMCPClientConnectionBackoff),
		lookups:     build(m.Int64Counter, names.MetricMCPClientCacheLookups),
		tasks:       build(m.Int64UpDownCounter, names.MetricMCPServerTaskActive),
		task:        histogram(m.Float64Histogram, names.MetricMCPServerTaskDuration),
		policy:      build(m.Int64Counter, names.MetricMCPServerPolicyDecisions),
		state:       build(m.Int64ObservableUpDownCounter, names.MetricMCPClientConnectionState),
		queueLength: build(m.Int64ObservableGauge, names.MetricMCPClientSendQueueLength),

		processMemory: build(m.Int64ObservableUpDownCounter, names.MetricProcessMemoryUsage),
		processes:     build(m.Int64ObservableUpDownCounter, names.MetricMCPClientProcessActive),
		processTime:   build(m.Float64ObservableCounter, names.MetricProcessCpuTime),
		processUptime: build(m.Float64ObservableGauge, names.MetricProcessUptime),

		serverInfo:  build(m.Int64ObservableUpDownCounter, names.MetricMCPClientServerInfo),
		executeTool: histogram(m.Float64Histogram, names.MetricGenAIExecuteToolDuration),

		toolsSize:   build(m.Int64ObservableGauge, names.MetricMCPClientToolListSize),
		toolsTokens: build(m.Int64ObservableGauge, names.MetricMCPClientToolListTokenEstimate),
		toolSize:    build(m.Int64ObservableGauge, names.MetricMCPClientToolDefinitionSize),
		toolTokens:  build(m.Int64ObservableGauge, names.MetricMCPClientToolDefinitionTokenEstimate),
		toolResult:  histogram(m.Int64Histogram, names.MetricMCPClientToolResultSize),
		toolLoops:   build(m.Int64Counter, names.MetricMCPClientToolLoops),

		toolChanges: build(m.Int64Counter, names.MetricMCPClientToolChanges),
		changeGaps:  build(m.Int64Counter, names.MetricMCPClientChangeGap),

		serverQueueLength: build(m.Int64ObservableGauge, names.MetricMCPServerSendQueueLength),
		sessions:          build(m.Int64ObservableUpDownCounter, names.MetricMCPServerSessionActive),
		clientRequests:    build(m.Int64ObservableCounter, names.MetricMCPServerClientRequests),

		refused:       build(m.Int64Counter, names.MetricMCPServerRequestRefused),
		capacityUsage: build(m.Int64ObservableGauge, names.MetricMCPServerCapacityUsage),
		capacityLimit: build(m.Int64ObservableGauge, names.MetricMCPServerCapacityLimit),
		memoryUsage:   build(m.Int64ObservableGauge, names.MetricMCPServerMemoryUsage),
		memoryLimit:   build(m.Int64ObservableGauge, names.MetricMCPServerMemoryLimit),
	}
	ins.client.startTime.build(m, names.MetricMCPClientStartTime)
	ins.server.startTime.build(m, names.MetricMCPServerStartTime)
	ins.servers.others = &otherImplementation
	ins.asClient = role{telemetry.SideClient, &ins.client, &ins.clientPlaces, &clientKeys, &clientEvents}
	ins.asServer = role{telemetry.SideServer, &ins.server, &ins.serverPlaces, &serverKeys, &serverEvents}
	ins.clientPlaces.init()
	ins.serverPlaces.init()
	for i := range ins.durations {
		ins.durations[i].Keep(words.SetsForGroups, minOutcomes)
	}
	ins.gauges.init(m, ins)
	return ins
}

// build creates an instrument from its row of the schema. A provider reports an invalid instrument to OpenTelemetry's
// error handler; by the API's contract the instrument still works.
func build[O, I any](create func(string, ...O) (I, error), name string) I {
	return buildWith(create, rowOf(name))
}

func histogram[O, I any](create func(string, ...O) (I, error), name string) I {
	row := rowOf(name)
	return buildWith(create, row, any(metric.WithExplicitBucketBoundaries(row.Buckets...)).(O))
}

func buildWith[O, I any](create func(string, ...O) (I, error), row *schema.Metric, opts ...O) I {
	opts = append(opts, any(metric.WithUnit(row.Unit)).(O), any(metric.WithDescription(row.Brief)).(O))
	i, err := create(row.Name, opts...)
	if err != nil {
		otel.Handle(err)
	}
	return i
}

func rowOf(name string) *schema.Metric {
	i := slices.IndexFunc(schema.Current.Metrics, func(m schema.Metric) bool { return m.Name == name })
	if i < 0 {
		panic("telemetry: the schema has no metric " + name)
	}
	return &schema.Current.Metrics[i]
}

// processStart is the time, in seconds since 1970, at which this process created its first client or server. All meters
// share it, so that no meter reports a start that is later than its first counted event.
var processStart = sync.OnceValue(func() float64 { return float64(time.Now().UnixMilli()) / 1000 })

// startTime reports the time at which the process started to count, which is the creation of the first client or
// server. Like the counters, the metric stays after the last client or server has ended. Its callback belongs to the
// instrument and keeps no client in memory.
type startTime struct {
	started atomic.Bool
}

// start enables the metric.
func (s *startTime) start() { s.started.Store(true) }

// build creates the instrument.
func (s *startTime) build(m metric.Meter, name string) {
	processStart()
	buildWith(m.Float64ObservableGauge, rowOf(name),
		metric.Float64ObservableGaugeOption(metric.WithFloat64Callback(s.observe)))
}

func (s *startTime) observe(_ context.Context, o metric.Float64Observer) error {
	if s.started.Load() {
		o.Observe(processStart())
	}
	return nil
}
