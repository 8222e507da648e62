package peers_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkStart measures a program that starts, connects over HTTP, makes a call and ends. It also reports the size of
// the program's binary.
func BenchmarkStart(b *testing.B) {
	for _, p := range []string{"ours", "gosdk", "mcpgo"} {
		b.Run("peer="+p, func(b *testing.B) {
			program := filepath.Join(b.TempDir(), p)
			if out, err := exec.Command("go", "build", "-o", program, "./cmd/start/"+p).CombinedOutput(); err != nil {
				b.Fatalf("go build: %v: %s", err, out)
			}
			canned := workload.Canned{Era: workload.Legacy, Shape: workload.Text, Size: workload.Tiny}
			srv := httptest.NewServer(canned.Handler(workload.JSON))
			defer srv.Close()
			var spent time.Duration
			for b.Loop() {
				cmd := exec.Command(program, srv.URL)
				cmd.Stderr = os.Stderr
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				spent += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
			if info, err := os.Stat(program); err == nil {
				b.ReportMetric(float64(info.Size()), "B/binary")
			}
		})
	}
}
