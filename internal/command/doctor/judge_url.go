package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcpclient/auth"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func dns(f *facts) answer {
	w, host := f.url.web, f.url.url.Hostname()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch failed, _ := errors.AsType[*net.DNSError](w.dnsErr); {
	case host == "" || f.tap == nil || badURL(f.tap.failed):
		return answer{Fail, "the URL is invalid", "use a URL with http:// or https:// and a host"}
	case f.url.proxy != "":
		return answer{OK, fmt.Sprintf("the proxy %s of the environment resolves %s", f.url.proxy, host), ""}
	case failed != nil && failed.IsNotFound:
		return answer{Fail, "no address found for " + host, "correct the name; names of a private network need its " +
			"resolver or VPN"}
	case w.dnsErr != nil:
		return answer{Fail, fmt.Sprintf("cannot resolve %s: %v", host, w.dnsErr), "check the network connection of this " +
			"machine"}
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return answer{OK, host + " is an address", ""}
	}
	return answer{OK, fmt.Sprintf("%s has %d %s, found in %s", host, w.hosts, plural(w.hosts, "address", "addresses"),
		unit.Duration(w.resolved)), ""}
}

// badURL reports whether Dial rejected the URL itself.
func badURL(err error) bool { return err != nil && transport.Permanent(err) }

func tcp(f *facts) answer {
	w := f.url.web
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.connected != "":
		return answer{OK, "connected to " + w.connected, ""}
	case errors.Is(w.tcpErr, syscall.ECONNREFUSED):
		return answer{Fail, fmt.Sprintf("nothing listens at %s", f.url.url.Host), "start the server, or correct the port"}
	case w.tcpErr != nil:
		return answer{Fail, fmt.Sprintf("cannot connect to %s: %v", f.url.url.Host, w.tcpErr),
			"correct host and port; a firewall may be in between"}
	case f.session != nil:
		return answer{OK, "connected", ""}
	}
	return answer{Fail, fmt.Sprintf("%s did not accept a connection within %s", f.url.url.Host,
		unit.Duration(f.limits.connect)), "correct host and port; a firewall may be in between"}
}

// soonExpired is the remaining validity below which a certificate gets a warning.
const soonExpired = 14 * 24 * time.Hour

func tlsAgreed(f *facts) answer {
	w := f.url.web
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case f.url.url.Scheme == "http" && hostname.Loopback(f.url.url.Hostname()):
		return answer{OK, "plain HTTP, which is safe on loopback", ""}
	case f.url.url.Scheme == "http":
		return answer{Warn, "plain HTTP: everyone on the network can read and change messages",
			"use https; the client sends no tokens over plain http"}
	case w.secured == nil:
		return tlsFailed(f, w.tlsErr)
	}
	left := time.Until(w.secured.expires).Truncate(time.Hour)
	found := fmt.Sprintf("%s, the certificate of %s is valid for %.0f more days", w.secured.version, w.secured.subject,
		left.Hours()/24)
	if left < soonExpired {
		return answer{Warn, found, "renew the certificate"}
	}
	return answer{OK, found, ""}
}

// tlsFailed explains a failed TLS handshake.
func tlsFailed(f *facts, err error) answer {
	plain, _ := errors.AsType[tls.RecordHeaderError](err)
	invalid, expired := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case err == nil:
		return answer{Fail, "no TLS within " + unit.Duration(f.limits.connect), "check that the port serves HTTPS"}
	case plain.Msg != "":
		return answer{Fail, "the server does not speak TLS at this port", "use http:// if the server is on loopback, or " +
			"the " +
			"HTTPS port"}
	case expired && invalid.Reason == x509.Expired:
		return answer{Fail, "the certificate has expired or is not yet valid: " + err.Error(), "renew it, or correct the " +
			"clock"}
	case errors.As(err, new(x509.HostnameError)):
		return answer{Fail, err.Error(), "use a host name of the certificate"}
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return answer{Fail, err.Error(), "add the certificate authority to the trusted roots of this machine, for " +
			"example with SSL_CERT_FILE"}
	}
	return answer{Fail, err.Error(), "check that the port serves HTTPS"}
}

// answers checks the HTTP responses to the client's requests.
func answers(f *facts) answer {
	w := f.url.web
	responses := w.responses()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case responses == "":
		return answer{Fail, "no answer within " + unit.Duration(f.limits.connect), "check that it is an HTTP server and " +
			"not " +
			"overloaded; raise the limit with --timeout 1m"}
	case f.session == nil && w.refusals == 0 && !strings.Contains(responses, "application/json") &&
		!strings.Contains(responses, "text/event-stream"):
		return answer{Fail, "the server speaks HTTP, but not MCP: " + responses, "correct the path: it usually ends in " +
			"/mcp, or in /sse for an old server"}
	case w.silent > time.Second:
		return answer{Warn, fmt.Sprintf("%s; an event stream sent nothing for %s after its header", responses,
			unit.Duration(w.silent)), "disable buffering of event streams in proxies (nginx: proxy_buffering off), and flush " +
			"writes in the server"}
	case w.moved != "":
		return answer{Note, fmt.Sprintf("%s; redirected to %s", responses, w.moved), "use the target URL, " +
			"if it is the MCP endpoint"}
	}
	return answer{OK, responses, ""}
}

// authorization checks whether a client can find out how to get a token.
func authorization(f *facts) answer {
	w := f.url.web
	w.mu.Lock()
	refused, challenge := w.refusals > 0, w.challenge
	w.mu.Unlock()
	switch {
	case !refused:
		return answer{OK, "not required", ""}
	case f.session != nil:
		return answer{OK, "required, and the server accepts the credentials", ""}
	case f.url.login == nil:
		return answer{Fail, f.err.Error(), `if the server needs a login, log in first with "mcpotel tools --auth"`}
	}
	r := f.url.login.request()
	switch failed, _ := errors.AsType[*auth.Error](f.err); {
	case r == nil && failed != nil && failed.Step != auth.StepResource:
		return answer{Fail, failed.Error(), "correct the metadata of the server, or of its authorization server: see " +
			"docs/guides/authorization.md"}
	case r == nil:
		return answer{Fail, fmt.Sprintf("the server rejects the client: %v", f.err), "send your own credentials with " +
			"--header"}
	case ownIssuer(f.url.url, r.Issuer) && !strings.Contains(challenge, "resource_metadata"):
		return answer{Warn, "the server requires credentials, but does not name an authorization server",
			"send an API key with --header; an OAuth server must name its metadata in WWW-Authenticate"}
	}
	found := fmt.Sprintf("the metadata is valid: %s issues tokens for %s, with PKCE", r.Issuer, r.Resource)
	if len(r.Scopes) > 0 {
		found += ", scopes " + strings.Join(r.Scopes, " ")
	}
	return answer{Warn, found + "; the other checks need a login",
		`log in with "mcpotel tools --auth", then repeat with --auth`}
}

// transportUsed checks which HTTP transport the server speaks.
func transportUsed(f *facts) answer {
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	over := "HTTP/" + f.tap.last.HTTPVersion
	switch {
	case f.tap.sse:
		return answer{Note, "HTTP+SSE of 2024-11-05, over " + over, "switch the server to Streamable HTTP: HTTP+SSE is " +
			"deprecated, and loses answers when its stream breaks"}
	case f.modern():
		return answer{OK, "Streamable HTTP without sessions, over " + over, ""}
	case f.tap.last.SessionID != "":
		return answer{OK, "Streamable HTTP with a session, over " + over, ""}
	}
	return answer{OK, "Streamable HTTP without a session id, over " + over, ""}
}

// clocks checks the offset of the server's clock.
func clocks(f *facts) answer {
	w := f.url.web
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clock == nil {
		return answer{Skipped, "the server sends no Date header to compare with", ""}
	}
	off := unit.Duration(w.clock.off)
	ahead := w.clock.ahead.Abs()
	word := "ahead"
	if w.clock.ahead < 0 {
		word = "behind"
	}
	switch {
	case ahead <= w.clock.off+time.Second:
		return answer{OK, fmt.Sprintf("the server's clock agrees within %s", unit.Duration(w.clock.off+time.Second)), ""}
	case ahead < 5*time.Second:
		return answer{Note, fmt.Sprintf("the server's clock is %s %s, ±%s", unit.Duration(ahead), word, off),
			"spans of client and server are shifted in a trace; use NTP on both machines"}
	}
	return answer{Warn, fmt.Sprintf("the server's clock is %s %s, ±%s", unit.Duration(ahead), word, off),
		"use NTP on both machines: spans are shifted in a trace, and tokens seem expired"}
}
