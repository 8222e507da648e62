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
		return answer{Fail, "it is no URL that requests can be sent to", "write it with http:// or https:// and a host"}
	case f.url.proxy != "":
		return answer{OK, fmt.Sprintf("the proxy %s of the environment is asked, and resolves %s", f.url.proxy, host), ""}
	case failed != nil && failed.IsNotFound:
		return answer{Fail, "no address is known for " + host, "correct the name; a name of a private network needs its " +
			"resolver, or its VPN"}
	case w.dnsErr != nil:
		return answer{Fail, fmt.Sprintf("%s could not be resolved: %v", host, w.dnsErr), "is this machine online?"}
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return answer{OK, host + " is an address", ""}
	}
	return answer{OK, fmt.Sprintf("%s has %d %s, found in %s", host, w.hosts, plural(w.hosts, "address", "addresses"),
		unit.Duration(w.resolved)), ""}
}

// badURL reports whether Dial has refused the URL itself.
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
		return answer{Fail, fmt.Sprintf("no connection to %s: %v", f.url.url.Host, w.tcpErr),
			"correct host and port; a firewall may be in between"}
	case f.session != nil:
		return answer{OK, "connected", ""}
	}
	return answer{Fail, fmt.Sprintf("%s did not take a connection within %s", f.url.url.Host,
		unit.Duration(f.limits.connect)), "correct host and port; a firewall may be in between"}
}

// soonExpired is how long before its end a certificate is warned of.
const soonExpired = 14 * 24 * time.Hour

func tlsAgreed(f *facts) answer {
	w := f.url.web
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case f.url.url.Scheme == "http" && hostname.Loopback(f.url.url.Hostname()):
		return answer{OK, "none, and none is needed on loopback", ""}
	case f.url.url.Scheme == "http":
		return answer{Warn, "none: whoever is on the way reads and changes what is said",
			"use https; no token is sent over plain http"}
	case w.secured == nil:
		return tlsFailed(f, w.tlsErr)
	}
	left := time.Until(w.secured.expires).Truncate(time.Hour)
	found := fmt.Sprintf("%s, the certificate of %s is good for %.0f more days", w.secured.version, w.secured.subject,
		left.Hours()/24)
	if left < soonExpired {
		return answer{Warn, found, "renew the certificate"}
	}
	return answer{OK, found, ""}
}

// tlsFailed judges why there is no TLS.
func tlsFailed(f *facts, err error) answer {
	plain, _ := errors.AsType[tls.RecordHeaderError](err)
	invalid, expired := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case err == nil:
		return answer{Fail, "no TLS within " + unit.Duration(f.limits.connect), "is the port one of HTTPS?"}
	case plain.Msg != "":
		return answer{Fail, "the server does not speak TLS at this port", "use http:// if it is on loopback, or the " +
			"port of HTTPS"}
	case expired && invalid.Reason == x509.Expired:
		return answer{Fail, "the certificate is expired, or not good yet: " + err.Error(), "renew it; look at the clock too"}
	case errors.As(err, new(x509.HostnameError)):
		return answer{Fail, err.Error(), "use the name that the certificate has"}
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return answer{Fail, err.Error(), "add the authority to those that this machine trusts: SSL_CERT_FILE names a file"}
	}
	return answer{Fail, err.Error(), "is the port one of HTTPS?"}
}

// answers judges what HTTP answered to the client's requests.
func answers(f *facts) answer {
	w := f.url.web
	told := w.told()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case told == "":
		return answer{Fail, "no answer within " + unit.Duration(f.limits.connect), "is it a server of HTTP, and not busy? " +
			"--timeout 1m gives it more time"}
	case f.session == nil && w.refusals == 0 && !strings.Contains(told, "application/json") &&
		!strings.Contains(told, "text/event-stream"):
		return answer{Fail, "what is there speaks HTTP and no MCP: " + told, "correct the path: that of an endpoint mostly " +
			"ends in /mcp, or in /sse for an old one"}
	case w.silent > time.Second:
		return answer{Warn, fmt.Sprintf("%s; an event stream said nothing for %s after its header", told,
			unit.Duration(w.silent)), "let no proxy buffer event streams (nginx: proxy_buffering off), and the server " +
			"flush what it writes"}
	case w.moved != "":
		return answer{Note, fmt.Sprintf("%s; there are redirects to %s", told, w.moved), "write the URL that it leads to, " +
			"if it is that of the endpoint"}
	}
	return answer{OK, told, ""}
}

// authorization judges what the server wants first, and whether a client can find out where to get it.
func authorization(f *facts) answer {
	w := f.url.web
	w.mu.Lock()
	refused, challenge := w.refusals > 0, w.challenge
	w.mu.Unlock()
	switch {
	case !refused:
		return answer{OK, "nothing is asked for", ""}
	case f.session != nil:
		return answer{OK, "the server asks for it, and takes what it is given", ""}
	case f.url.login == nil:
		return answer{Fail, f.err.Error(), `log in first, with "mcpotel tools --auth", if a person has to`}
	}
	r := f.url.login.request()
	switch failed, _ := errors.AsType[*auth.Error](f.err); {
	case r == nil && failed != nil && failed.Step != auth.StepResource:
		return answer{Fail, failed.Error(), "correct the metadata of the server, or of its authorization server: the guide " +
			"docs/guides/authorization.md has what they need"}
	case r == nil:
		return answer{Fail, fmt.Sprintf("the server refuses: %v", f.err), "--header sends credentials of your own"}
	case ownIssuer(f.url.url, r.Issuer) && !strings.Contains(challenge, "resource_metadata"):
		return answer{Warn, "the server asks for credentials, and does not say where to get some",
			"--header sends an API key; a server of OAuth names its metadata in WWW-Authenticate"}
	}
	found := fmt.Sprintf("metadata are in order: %s gives out tokens for %s, with PKCE", r.Issuer, r.Resource)
	if len(r.Scopes) > 0 {
		found += ", scopes " + strings.Join(r.Scopes, " ")
	}
	return answer{Warn, found + "; the rest needs a login", `log in with "mcpotel tools --auth", then repeat with --auth`}
}

// transportUsed judges which of the HTTP transports it is.
func transportUsed(f *facts) answer {
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	over := "HTTP/" + f.tap.last.HTTPVersion
	switch {
	case f.tap.sse:
		return answer{Note, "HTTP+SSE of 2024-11-05, over " + over, "let the server offer Streamable HTTP: HTTP+SSE is " +
			"deprecated, and its one stream loses answers when it breaks"}
	case f.modern():
		return answer{OK, "Streamable HTTP without sessions, over " + over, ""}
	case f.tap.last.SessionID != "":
		return answer{OK, "Streamable HTTP with a session, over " + over, ""}
	}
	return answer{OK, "Streamable HTTP, and the server gives no session, over " + over, ""}
}

// clocks judges how far the server's clock is off.
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
			"spans of both ends stand beside each other in a trace; let both machines use NTP"}
	}
	return answer{Warn, fmt.Sprintf("the server's clock is %s %s, ±%s", unit.Duration(ahead), word, off),
		"let both machines use NTP: spans do not fit into each other, and tokens seem expired"}
}
