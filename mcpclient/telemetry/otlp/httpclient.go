package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// exportTimeout is how long one try to export may take if OTEL_EXPORTER_OTLP_TIMEOUT does not say so.
const exportTimeout = 10 * time.Second

// newHTTPClient returns the client of a signal's exporter over HTTP. An exporter that is given a client reads neither
// the variables of TLS nor that of the timeout, so they are read here.
func newHTTPClient(sig signal, l *link) (*http.Client, error) {
	env := func(key string) string { return strings.TrimSpace(os.Getenv(key)) }
	var wrong problems
	limit, err := readTimeout(env, sig)
	wrong.add(err)
	security, err := readTLS(env, sig)
	wrong.add(err)
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = security
	l.idle = t.CloseIdleConnections
	return &http.Client{Transport: transport{l, t}, Timeout: limit}, nil
}

func readTimeout(env func(string) string, sig signal) (time.Duration, error) {
	key, v := deciding(env, sig, "TIMEOUT")
	if v == "" {
		return exportTimeout, nil
	}
	ms, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a number of milliseconds between 0 and %d", key, v, maxMilliseconds)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// readTLS reads whom to trust, and as whom to come. What the variables do not say is the system's.
func readTLS(env func(string) string, sig signal) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if key, file := deciding(env, sig, "CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: %s holds no certificate in PEM", key, file)
		}
	}
	key, cert := deciding(env, sig, "CLIENT_CERTIFICATE")
	keyKey, private := deciding(env, sig, "CLIENT_KEY")
	if cert == "" && private == "" {
		return c, nil
	}
	if cert == "" || private == "" {
		return nil, fmt.Errorf("%s and %s: set both or neither", key, keyKey)
	}
	pair, err := tls.LoadX509KeyPair(cert, private)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", key, keyKey, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
