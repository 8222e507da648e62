package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient"
)

func ExampleClient_Shutdown() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, weatherServer(), nil)
	if err != nil {
		log.Fatal(err)
	}

	// The program is about to end. Calls in flight get up to 20 seconds to finish.
	patience, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := client.Shutdown(patience); err != nil {
		log.Printf("some calls are cut off: %v", err)
	}
	_, err = client.CallTool(ctx, "weather", query{City: "Oslo"})
	fmt.Println("refused:", errors.Is(err, mcpclient.ErrShutdown))
	// Output:
	// refused: true
}

func ExampleHealthHandler() {
	client, err := mcpclient.Connect(context.Background(), weatherServer(), &mcpclient.Options{Name: "weather"})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	mux := http.NewServeMux()
	mux.Handle("GET /readyz", mcpclient.HealthHandler(client))

	answer := httptest.NewRecorder() // the answer to the probe
	mux.ServeHTTP(answer, httptest.NewRequest("GET", "/readyz", nil))
	fmt.Println(answer.Code)
	// Output:
	// 200
}
