package jsonscan_test

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func ExampleObject() {
	type annotations struct {
		audience []string
		priority float64
	}
	decode := func(b []byte, i int) (a annotations, end int, err error) {
		o := jsonscan.ObjectAt(b, i)
		for o.Next() {
			switch string(o.Key()) {
			case "audience":
				list := jsonscan.ArrayAt(b, o.At())
				for list.Next() {
					a.audience = append(a.audience, list.Text())
				}
				o.Take(list.End(), list.Err())
			case "priority":
				if !o.Null() { // null for an optional member means that it is absent
					a.priority = o.Float()
				}
			}
		}
		return a, o.End(), o.Err()
	}

	a, end, err := decode([]byte(`{"priority":0.5,"audience":["user","\u0061ssistant"],"more":{}}`), 0)
	fmt.Println(a.audience, a.priority, end, err)
	_, _, err = decode([]byte(`{"audience":["user",}`), 0)
	fmt.Println(err)
	// Output:
	// [user assistant] 0.5 63 <nil>
	// invalid character '}' at offset 20
}
