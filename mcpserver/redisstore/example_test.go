package redisstore_test

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/redisstore"
)

// A server that any number of processes serve under one address.
func Example() {
	// docs:handler
	client := redis.NewClient(&redis.Options{Addr: "redis:6379"})
	defer client.Close()
	store := redisstore.New(client, nil)
	defer store.Close()

	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, &mcpserver.Options{
		Tasks: &mcpserver.TaskOptions{Store: store.Tasks()},
	})
	h := s.HTTPHandler(&mcpserver.HTTPOptions{Sessions: store.Sessions(), Events: store.Events()})
	// docs:end

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	srv := &http.Server{Addr: ":8080", Handler: h}
	context.AfterFunc(ctx, func() {
		_ = h.Shutdown(context.Background()) // finish the running requests; sessions continue in other processes
		_ = s.Shutdown(context.Background())
		_ = srv.Shutdown(context.Background())
	})
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Print(err)
	}
}

// A gateway to several servers, which any number of processes serve under one address.
func Example_gateway() {
	var members []mcpclient.Member // for example c.Members(nil) of package config
	var keys [][]byte              // the same keys in each process
	// docs:gateway
	client := redis.NewClient(&redis.Options{Addr: "redis:6379"})
	defer client.Close()
	store := redisstore.New(client, nil)
	defer store.Close()

	g, err := mcpproxy.NewGateway(members, &mcpproxy.GatewayOptions{Server: mcpserver.Options{StateKeys: keys}})
	if err != nil {
		log.Fatal(err)
	}
	h := g.HTTPHandler(&mcpserver.HTTPOptions{Sessions: store.Sessions(), Events: store.Events()})
	// docs:end

	http.Handle("/mcp", h)
	err = http.ListenAndServe(":8080", nil)
	_ = errors.Join(h.Shutdown(context.Background()), g.Close())
	log.Fatal(err)
}
