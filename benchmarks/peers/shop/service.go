package shop

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Product is a product of the web service.
type Product struct {
	ID          int      `json:"id"`
	SKU         string   `json:"sku"`
	Name        string   `json:"name"`
	Category    string   `json:"category"`
	Price       float64  `json:"price"`
	Stock       int      `json:"stock"`
	Rating      float64  `json:"rating"`
	Tags        []string `json:"tags"`
	Weight      float64  `json:"weight"`
	Description string   `json:"description"`
}

// Total is the answer to a calculation.
type Total struct {
	OrderID  string  `json:"order_id"`
	Subtotal float64 `json:"subtotal"`
	Tax      float64 `json:"tax"`
	Shipping float64 `json:"shipping"`
	Discount float64 `json:"discount"`
	Total    float64 `json:"total"`
}

const products = 100_000

// categories are the categories of the products, in turn. The contract names the first: 2,251 of its products cost
// between 50 and 500.
var categories = strings.Fields("Electronics Books Clothing Sports Home Garden Toys Food Beauty Automotive Music " +
	"Movies Games Office Health Pets Travel Tools Jewelry Baby")

var tags = strings.Fields("sale new featured bestseller clearance limited popular exclusive")

// Service returns the web service of the shop, with its 100,000 products.
func Service() http.Handler {
	all := make([]Product, products)
	for i := range all {
		category := categories[i%len(categories)]
		p := Product{
			ID: i + 1, SKU: fmt.Sprintf("SKU-%06d", i+1), Name: fmt.Sprintf("%s item %d", category, i+1),
			Category: category, Price: 1 + float64(i%99_900)/100, Stock: i % 501, Rating: 1 + float64(i%40)/10,
			Weight: cents(float64(1+i%100) / 10), Description: fmt.Sprintf("A product for tests, number %d.", i+1),
		}
		for n := range 2 + i%3 {
			p.Tags = append(p.Tags, tags[(i+n)%len(tags)])
		}
		all[i] = p
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /products/search", func(w http.ResponseWriter, r *http.Request) { search(w, r, all) })
	mux.HandleFunc("GET /products/{id}", func(w http.ResponseWriter, r *http.Request) {
		if id, err := strconv.Atoi(r.PathValue("id")); err == nil && id >= 1 && id <= len(all) {
			answer(w, all[id-1])
			return
		}
		http.NotFound(w, r)
	})
	mux.HandleFunc("POST /cart/calculate", func(w http.ResponseWriter, r *http.Request) { calculate(w, r, all) })
	return mux
}

// search answers with the products of a category and in a range of prices; they are sorted by price within the range.
func search(w http.ResponseWriter, r *http.Request, all []Product) {
	category := r.FormValue("category")
	least, err1 := strconv.ParseFloat(r.FormValue("min_price"), 64)
	most, err2 := strconv.ParseFloat(r.FormValue("max_price"), 64)
	limit, err3 := strconv.Atoi(r.FormValue("limit"))
	if err1 != nil || err2 != nil || err3 != nil {
		http.Error(w, "want numbers", http.StatusBadRequest)
		return
	}
	total, found := 0, []Product{}
	for i := range all {
		if p := &all[i]; p.Category == category && p.Price >= least && p.Price <= most {
			if total++; len(found) < limit {
				found = append(found, *p)
			}
		}
	}
	answer(w, map[string]any{"category": category, "total_found": total, "products": found})
}

func calculate(w http.ResponseWriter, r *http.Request, all []Product) {
	var order CheckoutParams
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := fmt.Sprintf("ORD-%s-%d", strings.ReplaceAll(order.UserID, "-", ""), len(order.Items))
	t := Total{OrderID: id, Shipping: 5.99}
	for _, item := range order.Items {
		if item.ProductID >= 1 && item.ProductID <= len(all) {
			t.Subtotal += all[item.ProductID-1].Price * float64(item.Quantity)
		}
	}
	t.Subtotal, t.Tax = cents(t.Subtotal), cents(t.Subtotal*0.085)
	if t.Subtotal >= 100 {
		t.Discount, t.Shipping = cents(t.Subtotal/10), 0
	}
	t.Total = cents(t.Subtotal + t.Tax + t.Shipping - t.Discount)
	answer(w, t)
}

func cents(f float64) float64 { return math.Round(f*100) / 100 }

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // fails if the client has left
}
