package shop

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Keys of the contract in Redis.
const (
	popularKey  = "bench:popular"
	defaultUser = "user-00042"
)

func cartKey(user string) string    { return "bench:cart:" + user }
func historyKey(user string) string { return "bench:history:" + user }
func rateKey(n int) string          { return fmt.Sprintf("bench:ratelimit:user-%05d", n) }
func userID(n int) string           { return fmt.Sprintf("user-%05d", n) }

// Fill writes the data of the contract to Redis: carts and order histories of 1,000 users, and the popularity of all
// products.
func Fill(ctx context.Context, redisURL string) error {
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return err
	}
	client := redis.NewClient(options)
	defer client.Close()
	p := client.Pipeline()
	for n := 1; n <= 1000; n++ {
		items := []CartItem{{n*7%products + 1, 1 + n%3}, {n*13%products + 1, 1 + n%2}}
		text, err := json.Marshal(items)
		if err != nil {
			return err
		}
		p.HSet(ctx, cartKey(userID(n)), "user_id", userID(n), "items", text, "total", fmt.Sprintf("%d.50", n))
		p.Del(ctx, historyKey(userID(n)))
		for order := range 20 {
			p.RPush(ctx, historyKey(userID(n)), fmt.Sprintf(`{"order_id":"ORD-%05d-%02d","product_id":%d,"qty":1,"price":9.99}`,
				n, order+1, n*order%products+1))
		}
	}
	for i := 1; i <= products; i++ {
		p.ZAdd(ctx, popularKey, redis.Z{Score: float64(i * 7 % 10_000), Member: fmt.Sprintf("product:%d", i)})
		if p.Len() >= 10_000 {
			if _, err := p.Exec(ctx); err != nil {
				return err
			}
		}
	}
	_, err = p.Exec(ctx)
	return err
}
