package mysql_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/ports/rowset"
)

func TestS12_S39_TheRowSetSaysWhatWasAsked(t *testing.T) {
	r := newRig(t, shop(t))
	raw, err := r.Execute(t.Context(), r.plan(t,
		"SELECT TRIM(? FROM c.name) AS n, COUNT(*) FROM customers c "+
			"WHERE c.id > ? AND c.name <=> ? /* all of them */ GROUP BY n LIMIT ?",
		"<é>", 1<<40, nil, 500), 1<<20)
	require.NoError(t, err)
	set, err := rowset.NewReader(raw)
	require.NoError(t, err)
	asked, err := set.Asked()
	require.NoError(t, err)
	require.Equal(t, &rowset.Asked{
		DataSource: "shop",
		Statement: "SELECT TRIM(BOTH ? FROM `c`.`name`) AS `n`, COUNT(*) FROM `shop`.`customers` AS `c` " +
			"WHERE ((`c`.`id` > ?) AND (`c`.`name` <=> ?)) GROUP BY `n` LIMIT 500",
		Params: []json.RawMessage{[]byte(`"<é>"`), []byte(`1099511627776`), []byte(`null`)},
	}, asked)
}
