package bearer

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
)

type breaking func()

func (b breaking) RoundTrip(*http.Request) (*http.Response, error) { b(); return nil, nil }

func TestPanicOrGoexitInKeyClientFailsFetch(t *testing.T) {
	for name, end := range map[string]breaking{"panic": func() { panic("oops") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fetchedKeys{url: "https://as.example/keys", client: &http.Client{Transport: end}}
				if _, err := f.find(context.Background(), "k", "ES256"); err == nil {
					t.Error("want an error")
				}
			})
		})
	}
}
