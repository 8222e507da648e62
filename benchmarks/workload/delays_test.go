package workload

import "testing"

func TestRoundOfDelaysGetsAllAnswers(t *testing.T) {
	for _, p := range peers() {
		t.Run(p.Name, func(t *testing.T) {
			c := Canned{Modern, Items, 200 * KiB}
			q, client, stop, err := newQueue(p, c)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := c.sizes()
			for range 2 {
				if _, small, err := q.round(client, p, want); err != nil || len(small) != behind {
					t.Errorf("want %d small answers, got %d, %v", behind, len(small), err)
				}
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}
