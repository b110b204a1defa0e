// Command demo runs the service on an embedded database and walks through one run: found,
// nothing found, refused, duplicate, budget. It prints what the agent sees and what the record
// holds. With --stay it leaves both running.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	app := flag.String("app", "bin/toolboundary", "the service's binary")
	db := flag.String("db", "bin/demodb", "the embedded database's binary")
	seed := flag.String("seed", "embedded", "the database's rows: embedded, or an SQL file")
	stay := flag.Bool("stay", false, "stay up and print a curl line")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo(ctx, os.Stdout, *app, *db, *seed, *stay); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, out io.Writer, app, db, seed string, stay bool) error {
	s, err := start(ctx, out, app, db, seed)
	if err != nil {
		return err
	}
	defer s.stop()
	if stay {
		return s.stayUp(ctx)
	}
	return s.walk(ctx)
}
