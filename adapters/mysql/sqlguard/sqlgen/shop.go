package sqlgen

// Shop is the schema of testdata/schema.sql with what its policy allows.
func Shop() Schema {
	return Schema{
		DefaultSchema: "shop",
		HiddenTables:  []string{"secrets", "audit_log", "v_customer_pii"},
		Tables: []Table{
			{Schema: "shop", Name: "customers", Key: []string{"id"}, Hidden: []string{"password_hash", "ssn"}, Sensitive: []string{"email"},
				Columns: []Column{{"id", Number}, {"name", Text}, {"country", Text}, {"created_at", Date}, {"vip", Number}}},
			{Schema: "shop", Name: "orders", Key: []string{"id"}, Hidden: []string{"card_last4"},
				Columns: []Column{{"id", Number}, {"customer_id", Number}, {"status", Text}, {"total", Number}, {"placed_at", Date}, {"note", Text}}},
			{Schema: "shop", Name: "order_items", Key: []string{"order_id", "line_no"},
				Columns: []Column{{"order_id", Number}, {"line_no", Number}, {"sku", Text}, {"qty", Number}, {"unit_price", Number}}},
			{Schema: "shop", Name: "products", Key: []string{"sku"}, Hidden: []string{"supplier_cost"},
				Columns: []Column{{"sku", Text}, {"title", Text}, {"category", Text}, {"price", Number}, {"in_stock", Number}}},
			{Schema: "archive", Name: "orders", Key: []string{"id"},
				Columns: []Column{{"id", Number}, {"customer_id", Number}, {"status", Text}, {"total", Number}, {"placed_at", Date}}},
		},
	}
}
