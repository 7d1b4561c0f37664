// Runs signature vectors against fixtures/receivers/go.go, beside which it is compiled. Argument: the vectors.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// Runs before main, and ends the process before it.
func init() {
	text, err := os.ReadFile(os.Args[1])
	var file struct {
		Vectors []struct {
			Name, Secret, Header, Verdict string
			Body                          []byte
			Now, Tolerance                int64
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		panic(err)
	}
	failed := 0
	for _, one := range file.Vectors {
		genuine := isGenuine(one.Secret, one.Header, one.Body, one.Now, one.Tolerance)
		if one.Verdict != "either" && genuine != (one.Verdict == "accepted") {
			fmt.Fprintln(os.Stderr, one.Name)
			failed++
		}
	}
	fmt.Printf("go: %d of %d\n", len(file.Vectors)-failed, len(file.Vectors))
	if failed > 0 {
		os.Exit(1)
	}
	os.Exit(0)
}
