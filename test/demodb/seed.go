package main

import (
	_ "embed"
	"fmt"
	"os"
)

//go:embed seed.sql
var embedded string

// seedText returns the text of a seed file, or the built-in shop.
func seedText(name string) (string, error) {
	if name == "embedded" {
		return embedded, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("seed: %w", err)
	}
	return string(text), nil
}
