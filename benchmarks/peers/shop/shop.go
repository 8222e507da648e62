// Package shop is an entry for the public benchmark of MCP servers by TM Dev Lab, version 2: three tools of a web shop,
// each of which asks a web service and Redis. The package has the tools, an MCP server with each Go library, the web
// service, the data in Redis, and the load of 50 clients. [Command shop] runs everything without containers.
//
// The benchmark's contract: https://github.com/thiagomendes/benchmark-mcp-servers-v2 (ADDING_SERVERS.md).
//
// [Command shop]: https://pkg.go.dev/github.com/mcpotel/mcpotel/benchmarks/peers/cmd/shop
package shop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

// SearchParams are the arguments of search_products. A missing member has the default of the contract.
type SearchParams struct {
	Category string  `json:"category,omitempty"`
	MinPrice float64 `json:"min_price,omitempty"`
	MaxPrice float64 `json:"max_price,omitempty"`
	Limit    int     `json:"limit,omitempty"`
}

// CartParams are the arguments of get_user_cart.
type CartParams struct {
	UserID string `json:"user_id,omitempty"`
}

// CheckoutParams are the arguments of checkout.
type CheckoutParams struct {
	UserID string `json:"user_id,omitempty"`
	Items  []Item `json:"items,omitempty"`
}

// Item is a product to buy.
type Item struct {
	ProductID int `json:"product_id"`
	Quantity  int `json:"quantity"`
}

// Found is the result of search_products.
type Found struct {
	Category   string   `json:"category"`
	Total      int      `json:"total_found"`
	Products   []Ranked `json:"products"`
	Top10      []int    `json:"top10_popular_ids"`
	ServerType string   `json:"server_type"`
}

// Ranked is a product with its rank among the ten most popular products, from 1; 0 for a less popular product.
type Ranked struct {
	ID     int     `json:"id"`
	SKU    string  `json:"sku"`
	Name   string  `json:"name"`
	Price  float64 `json:"price"`
	Rating float64 `json:"rating"`
	Rank   int     `json:"popularity_rank"`
}

// UserCart is the result of get_user_cart.
type UserCart struct {
	UserID     string           `json:"user_id"`
	Cart       Cart             `json:"cart"`
	History    []map[string]any `json:"recent_history"`
	ServerType string           `json:"server_type"`
}

// Cart is a cart in Redis.
type Cart struct {
	Items []CartItem `json:"items"`
	Count int        `json:"item_count"`
	Total float64    `json:"estimated_total"`
}

// CartItem is a product in a cart.
type CartItem struct {
	ProductID int `json:"product_id"`
	Quantity  int `json:"qty"`
}

// Confirmed is the result of checkout.
type Confirmed struct {
	OrderID    string  `json:"order_id"`
	UserID     string  `json:"user_id"`
	Total      float64 `json:"total"`
	Count      int     `json:"items_count"`
	RateLimit  int64   `json:"rate_limit_count"`
	Status     string  `json:"status"`
	ServerType string  `json:"server_type"`
}

// Shop has the tools. Its methods may be called concurrently.
type Shop struct {
	server string // server_type of the results
	api    string
	web    *http.Client
	redis  *redis.Client
}

// Open returns the shop that asks the web service and Redis at these URLs. server is the server_type of its results.
func Open(server, api, redisURL string) (*Shop, error) {
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, err
	}
	web := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	return &Shop{server, api, web, redis.NewClient(options)}, nil
}

// Close closes the connections.
func (s *Shop) Close() error {
	s.web.CloseIdleConnections()
	return s.redis.Close()
}

// Search searches the products, and ranks them.
func (s *Shop) Search(ctx context.Context, p SearchParams) (*Found, error) {
	p.Category = cmp.Or(p.Category, "Electronics")
	p.MinPrice, p.MaxPrice, p.Limit = cmp.Or(p.MinPrice, 50), cmp.Or(p.MaxPrice, 500), cmp.Or(p.Limit, 10)
	query := url.Values{
		"category":  {p.Category},
		"min_price": {strconv.FormatFloat(p.MinPrice, 'f', -1, 64)},
		"max_price": {strconv.FormatFloat(p.MaxPrice, 'f', -1, 64)},
		"limit":     {strconv.Itoa(p.Limit)},
	}
	found := &Found{ServerType: s.server}
	var popular []string // the ten with the highest scores
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return s.get(ctx, "/products/search?"+query.Encode(), found) })
	both.Go(func() (err error) {
		popular, err = s.redis.ZRangeArgs(ctx, redis.ZRangeArgs{Key: popularKey, Start: 0, Stop: 9, Rev: true}).Result()
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	ranks := map[int]int{}
	for i, member := range popular {
		if id, err := strconv.Atoi(strings.TrimPrefix(member, "product:")); err == nil {
			found.Top10 = append(found.Top10, id)
			ranks[id] = i + 1
		}
	}
	for i := range found.Products {
		found.Products[i].Rank = ranks[found.Products[i].ID]
	}
	return found, nil
}

// UserCart returns the cart and the recent orders of a user.
func (s *Shop) UserCart(ctx context.Context, p CartParams) (*UserCart, error) {
	user := cmp.Or(p.UserID, defaultUser)
	stored, err := s.redis.HGetAll(ctx, cartKey(user)).Result()
	if err != nil {
		return nil, err
	}
	result := &UserCart{UserID: user, ServerType: s.server}
	if items := stored["items"]; items != "" {
		if err := json.Unmarshal([]byte(items), &result.Cart.Items); err != nil {
			return nil, err
		}
	}
	result.Cart.Count = len(result.Cart.Items)
	result.Cart.Total, _ = strconv.ParseFloat(stored["total"], 64) // zero without a total
	first := 1
	if result.Cart.Count > 0 {
		first = result.Cart.Items[0].ProductID
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return s.get(ctx, "/products/"+strconv.Itoa(first), new(Product)) })
	both.Go(func() error {
		orders, err := s.redis.LRange(ctx, historyKey(user), 0, 4).Result()
		if err != nil {
			return err
		}
		result.History = make([]map[string]any, len(orders))
		for i, order := range orders {
			if err := json.Unmarshal([]byte(order), &result.History[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return result, both.Wait()
}

// Checkout buys the items.
func (s *Shop) Checkout(ctx context.Context, p CheckoutParams) (*Confirmed, error) {
	user, items := cmp.Or(p.UserID, defaultUser), p.Items
	if len(items) == 0 {
		items = []Item{{42, 2}, {1337, 1}}
	}
	number, _ := strconv.Atoi(user[strings.LastIndexByte(user, '-')+1:]) // zero for a name without a number
	now := time.Now().Unix()
	order, err := json.Marshal(map[string]any{"order_id": fmt.Sprintf("ORD-%s-%d", user, now), "items": items, "ts": now})
	if err != nil {
		return nil, err
	}
	result := &Confirmed{UserID: user, Count: len(items), Status: "confirmed", ServerType: s.server}
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return s.calculate(ctx, CheckoutParams{user, items}, result) })
	all.Go(func() (err error) {
		result.RateLimit, err = s.redis.Incr(ctx, rateKey(number%100)).Result()
		return err
	})
	all.Go(func() error { return s.redis.RPush(ctx, historyKey(user), order).Err() })
	all.Go(func() error {
		return s.redis.ZIncrBy(ctx, popularKey, 1, "product:"+strconv.Itoa(items[0].ProductID)).Err()
	})
	return result, all.Wait()
}

// calculate asks for the total of an order.
func (s *Shop) calculate(ctx context.Context, p CheckoutParams, result *Confirmed) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.api+"/cart/calculate", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	var total Total
	if err := s.do(r, &total); err != nil {
		return err
	}
	result.OrderID, result.Total = total.OrderID, total.Total
	return nil
}

func (s *Shop) get(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.api+path, nil)
	if err != nil {
		return err
	}
	return s.do(r, into)
}

// do sends a request and decodes the answer.
func (s *Shop) do(r *http.Request, into any) error {
	resp, err := s.web.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", r.URL.Path, resp.Status)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
