// Command demodb is the demo's database: an embedded MySQL-compatible engine in memory, on
// loopback, filled from an SQL file.
//
// It prints its address as one line on standard output when it takes connections, and ends on
// SIGTERM, SIGINT or, with --stdin-eof, when its standard input ends. It has one account, from
// DEMO_DB_USER and DEMO_DB_PASSWORD, which may read the seeded databases and nothing else. What it
// does differently from a MySQL server is in GAPS.md. Data that matters does not belong in it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/sirupsen/logrus"
)

const usage = "demodb [--listen 127.0.0.1:0] [--seed embedded|FILE.sql] [--stdin-eof]\n" +
	"The account's name and password come from DEMO_DB_USER and DEMO_DB_PASSWORD."

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout)
	stop()
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "demodb: %v\n%s\n", err, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "demodb: %v\n", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage")

// run serves until ctx ends or, if asked to watch it, stdin does.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("demodb", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	listen := flags.String("listen", "127.0.0.1:0", "")
	seed := flags.String("seed", "embedded", "")
	stdinEOF := flags.Bool("stdin-eof", false, "")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, flags.Arg(0))
	}
	who := account{user: getenv("DEMO_DB_USER"), password: getenv("DEMO_DB_PASSWORD")}
	if who.user == "" || who.password == "" {
		return fmt.Errorf("%w: DEMO_DB_USER and DEMO_DB_PASSWORD must be set", errUsage)
	}
	text, err := seedText(*seed)
	if err != nil {
		return err
	}
	logrus.SetLevel(logrus.FatalLevel) // the engine logs every refused statement; the client gets the same text

	s, err := open(*listen, text, who)
	if err != nil {
		return err
	}
	if *stdinEOF {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			cancel()
		}()
	}
	ended := make(chan error, 1)
	go func() { ended <- s.serve() }()
	fmt.Fprintln(stdout, s.addr)
	select {
	case err := <-ended:
		return fmt.Errorf("stopped taking connections: %w", err)
	case <-ctx.Done():
		return s.close()
	}
}
