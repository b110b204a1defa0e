package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolboundary/toolboundary/config"
)

// Load reports everything that is wrong at once, each with its line and what to do.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "config")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "toolboundary.yaml")
	text := `server:
  listen: 127.0.0.1
  shutdown_grace: 30
runs: {max_tll: 2h}
data_sources:
  shop:
    address: db.example.com:3306
    user_env: SHOP_USER
    password_env: SHOP_PASSWORD
    default_schema: shop
    allow:
      shop.orders: [id, status]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}

	env := map[string]string{"SHOP_USER": "reader"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	_, err = config.Load(path, lookup)
	for _, p := range err.(*config.Problems).List {
		fmt.Println(p.Text("toolboundary.yaml"))
	}
	// Output:
	// toolboundary.yaml:2: server.listen: The address is not host:port.
	//     fix: Write it as 127.0.0.1:8080, or :8080 for every interface.
	// toolboundary.yaml:3: server.shutdown_grace: The value is not a duration.
	//     fix: Write a number with a unit, such as 500ms, 5s, 2m or 24h.
	// toolboundary.yaml:4: runs.max_tll: There is no such key here.
	//     fix: Did you mean max_ttl?
	// toolboundary.yaml:9: data_sources.shop.password_env: The environment variable SHOP_PASSWORD is not set.
	//     fix: Set SHOP_PASSWORD, or name another variable.
}

// Parse is Load for a text in memory. What the text does not set has its default.
func ExampleParse() {
	c, err := config.Parse([]byte("runs: {max_ttl: 2h}\n"), os.LookupEnv)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Runs.MaxTTL, c.Runs.RecordTTL, c.Store.Kind)
	// Output: 2h0m0s 24h0m0s memory
}
