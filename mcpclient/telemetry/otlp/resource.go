package otlp

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// newResource describes this process. The environment comes last and overrides the rest. newResource does not use
// resource.WithProcess, which would add the arguments of the process, because people pass tokens in argv. If it returns
// both a resource and an error, only the parts that could not be detected are missing.
func newResource(ctx context.Context, c *config) (*resource.Resource, error) {
	info, _ := debug.ReadBuildInfo()
	return resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithHost(),
		resource.WithOS(),
		resource.WithProcessPID(),
		resource.WithProcessExecutableName(),
		resource.WithProcessRuntimeName(),
		resource.WithProcessRuntimeVersion(),
		resource.WithAttributes(serviceAttributes(c, info)...),
		resource.WithFromEnv(),
	)
}

func serviceAttributes(c *config, info *debug.BuildInfo) []attribute.KeyValue {
	name := c.name
	if name == "" {
		name = "unknown_service:" + filepath.Base(os.Args[0])
	}
	attrs := []attribute.KeyValue{semconv.ServiceName(name), semconv.ServiceInstanceID(newUUID())}

	version := c.version
	if version == "" {
		version = buildVersion(info)
	}
	if version != "" {
		attrs = append(attrs, semconv.ServiceVersion(version))
	}
	return attrs
}

// buildVersion returns the version of the main module or, for a build without one ("(devel)"), the revision.
func buildVersion(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// newUUID makes a random (version 4) UUID, RFC 9562 section 5.4.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
