package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// counted returns the sum of a Collector's own metric with this name.
func counted(ctx context.Context, port int, name string) (sum float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", port), nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		id, _, _ := strings.Cut(lines.Text(), "{")
		_, value, labelled := strings.Cut(lines.Text(), "} ")
		if labelled && strings.TrimSuffix(id, "_total") == name {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, lines.Err()
}
