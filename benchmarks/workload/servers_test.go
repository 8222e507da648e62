package workload

import (
	"testing"
)

func TestEveryServerGivesTheRightAnswers(t *testing.T) {
	for _, s := range []Server{FloorServer, FloorJSONServer, OursServer} {
		for _, c := range servings() {
			t.Run(c.String()+"/"+s.Name, func(t *testing.T) {
				if c.transport == HTTPJSON {
					url, stop, err := Listen(s.HTTP())
					if err != nil {
						t.Fatal(err)
					}
					defer stop()
					line, err := c.post(url)
					if err == nil {
						err = checkedHTTP(url[len("http://"):len(url)-len("/mcp")], line, s.Name)
					}
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				d, err := c.drivePipe(s) // checks an answer
				if err != nil {
					t.Fatal(err)
				}
				if err := d.close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
