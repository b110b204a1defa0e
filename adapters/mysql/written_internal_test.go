package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
)

func TestTheValuesThatTheAgentWrote(t *testing.T) {
	plan := &sqlguard.Plan{
		SQL: "SELECT LOG2(`_t1`.`it's 5`) AS `_o1` FROM `s`.`t` AS `_t1` WHERE ((`_t1`.`a` = 'it''s \\\\ \\n') AND (`_t1`.`b``c` > 1.5e-3) " +
			"AND (`_t1`.`d` = x'4142') AND (`_t1`.`e` < 0x41) AND (-7) AND ?) LIMIT 201",
		Args: []any{nil, true, int64(-3), uint64(18446744073709551615), 0.25, "täxt"},
	}
	require.Equal(t, []written{
		{text: "1", number: true}, {text: "-3", number: true}, {text: "18446744073709551615", number: true}, {text: "0.25", number: true}, {text: "täxt"},
		{text: "it's \\ \n"}, {text: "1.5e-3", number: true}, {text: "4142", bytes: true}, {text: "0x41", number: true, bytes: true},
		{text: "7", number: true}, {text: "201", number: true},
	}, writtenIn(plan))
}

func TestWhatAWarningMayMean(t *testing.T) {
	for _, c := range []struct {
		value written
		shown string
		want  bool
	}{
		{written{text: "5abc"}, "5abc", true}, {written{text: "5ABC"}, "5abc", true}, {written{text: "info"}, "error", false},
		{written{text: "long text that is cut"}, "long text...", true}, {written{text: "25:00"}, "2024-01-01 25:00", true},
		{written{text: "a"}, "abc", false}, {written{text: "yesterday"}, "yest", true}, {written{text: ""}, "", true}, {written{text: ""}, "x", false},
		{written{text: "東京"}, `\x6771`, true}, {written{text: "東京"}, "tokyo", false}, {written{text: "x", bytes: true}, "anything", true},
		{written{text: "5", number: true}, "5", true}, {written{text: "5", number: true}, "-5.0", true}, {written{text: "5", number: true}, "5abc", false},
		{written{text: "1e3", number: true}, "1000", true},
	} {
		require.Equal(t, c.want, c.value.mayBe(c.shown), "%+v %q", c.value, c.shown)
	}
}

func detail(err error) string { return fault.Of(err).Detail }

// The forms that MySQL has and the MariaDB of the tests does not send, and words that are not understood.
func TestWarningsOfOtherServers(t *testing.T) {
	plan := &sqlguard.Plan{SQL: "SELECT 1 WHERE (`a` = 'soon') LIMIT 2"}
	for text, want := range map[string]string{
		"Incorrect DATETIME value: 'soon'":                                                 "'soon' is not a time",
		"Incorrect datetime value: 'soon' for column 'at' at row 1":                        "'soon' is not a time",
		"Truncated incorrect DOUBLE value: 'soon'":                                         "'soon' is not a number",
		"Encountered illegal value 'soon' when converting to DECIMAL":                      "'soon' is not a number",
		"Incorrect string value: 'soon' for column `a`.`b`.`c` at row 1":                   "'soon' does not have the form",
		"Falscher DATETIME-Wert: 'soon'":                                                   "a value does not have the form",
		"Truncated incorrect DOUBLE value: 'stored'":                                       "",
		"Incorrect datetime value: 'it' for function' for function str_to_date":            "",
		"Incorrect decimal value: 'stored 'soon' text' for column `a`.`b`.`c` at row 1000": "'soon' is not a number",
	} {
		number := uint16(1292)
		if len(text) > 60 && text[0] == 'E' {
			number = errBadData
		}
		notes, err := weigh(plan, []server.Warning{{Number: number, Text: text}}, true)
		if want == "" {
			require.NoError(t, err, text)
			require.Len(t, notes, 1)
			continue
		}
		require.ErrorContains(t, err, "EXECUTION_FAILED", text)
		require.Contains(t, detail(err), want, text)
	}
	warned := func(numbers ...uint16) (list []server.Warning) {
		for _, n := range numbers {
			list = append(list, server.Warning{Number: n, Text: "whatever"})
		}
		return list
	}
	notes, err := weigh(plan, warned(1287, 1681, 4038, 4038), true)
	require.NoError(t, err)
	require.Equal(t, "the server warned of error 4038", notes[0].Text)
	require.Equal(t, 2, notes[0].Count)
	_, err = weigh(plan, warned(4038), false)
	require.Contains(t, detail(err), "too many stored values")
	for _, number := range []uint16{1260, 1264, 1265, 1301} {
		_, err = weigh(plan, warned(number), true)
		require.NotEmpty(t, detail(err), number)
	}
}
