-- The demo's shop. Change a row and the demo's output changes with it.
-- Plain SQL, one statement after the other; `demodb --seed FILE` takes another file. Prices are in euro.
-- Not everything here is meant for an agent: email is sensitive, password_hash, supplier_cost, card_last4 and the table api_keys are off limits.

CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE DATABASE archive CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
USE shop;

CREATE TABLE customers (
  id            INT UNSIGNED NOT NULL PRIMARY KEY,
  name          VARCHAR(80)  NOT NULL,
  email         VARCHAR(120) NULL,
  country       CHAR(2)      NULL,
  created_at    DATETIME     NOT NULL,
  vip           TINYINT(1)   NOT NULL DEFAULT 0,
  password_hash CHAR(64)     NOT NULL
);

CREATE TABLE products (
  sku           VARCHAR(20)   NOT NULL PRIMARY KEY,
  title         VARCHAR(120)  NOT NULL,
  category      VARCHAR(40)   NULL,
  price         DECIMAL(10,2) NOT NULL,
  in_stock      INT           NOT NULL,
  supplier_cost DECIMAL(10,2) NULL
);

CREATE TABLE orders (
  id            BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  customer_id   INT UNSIGNED    NULL,
  status        VARCHAR(20)     NOT NULL,
  total         DECIMAL(12,2)   NULL,
  placed_at     DATETIME(3)     NOT NULL,
  note          TEXT            NULL,
  card_last4    CHAR(4)         NULL,
  KEY k_customer (customer_id),
  KEY k_status (status)
);

CREATE TABLE order_items (
  order_id      BIGINT UNSIGNED   NOT NULL,
  line_no       SMALLINT UNSIGNED NOT NULL,
  sku           VARCHAR(20)       NOT NULL,
  qty           INT               NOT NULL,
  unit_price    DECIMAL(10,2)     NOT NULL,
  PRIMARY KEY (order_id, line_no)
);

CREATE TABLE api_keys (
  service       VARCHAR(40)  NOT NULL PRIMARY KEY,
  secret        VARCHAR(120) NOT NULL
);

CREATE TABLE archive.orders (
  id            BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  customer_id   INT UNSIGNED    NULL,
  status        VARCHAR(20)     NOT NULL,
  total         DECIMAL(12,2)   NULL,
  placed_at     DATETIME        NOT NULL
);

INSERT INTO customers (id, name, email, country, created_at, vip, password_hash) VALUES
  (1, 'Ada Lovelace', 'ada@lovelace.example', 'GB', '2023-01-12 09:14:00', 1, 'ecb5d10d78dde2d365ccbb4e421ed5370f947001647b1e79f790aa3f4f4dfd5d'),
  (2, 'Grace Hopper', 'grace.hopper@navy.example', 'US', '2023-01-30 16:02:41', 1, '6cef389f13d59189abce73c9f87514c545c8ed7a6a6590c513b2ac76c2c6a3e3'),
  (3, 'Alan Turing', 'alan@bletchley.example', 'GB', '2023-02-03 11:45:09', 0, '25234962dc1cd4b22bb55013d72d568d1db0e643799c9a2a29bad2e0a6de6fb0'),
  (4, 'Katherine Johnson', 'kjohnson@orbit.example', 'US', '2023-02-17 08:30:00', 1, 'b14d01580df350dde3618ce271fe313f06dd0b2ef6029e4b27b60f41c82709ed'),
  (5, 'Konrad Zuse', 'konrad@zuse.example', 'DE', '2023-03-08 13:21:55', 0, '7c49b4a84cfa6c8ee393eaeda97ed2393e62b2799d9222382d879ad79c3c4027'),
  (6, 'Hedy Lamarr', 'hedy@spread.example', 'AT', '2023-03-22 19:05:12', 0, '20c739cb62a0e3ffdba300a903ba8b733587676099d25a39f7acc9a360400df9'),
  (7, 'Radia Perlman', 'radia@bridges.example', 'US', '2023-04-11 07:58:30', 0, 'c7401f9d58d986517e0974cb427c751909042f75996c9e80085e7bc5101fdcaf'),
  (8, 'Edsger Dijkstra', 'edsger@shortest.example', 'NL', '2023-04-29 10:10:10', 1, '3488b07e2d9f6e751dc744458a2d62df478a785c73880a652efcf198571383e6'),
  (9, 'Margaret Hamilton', 'margaret@apollo.example', 'US', '2023-05-16 12:00:00', 0, '1267fc0a0b508785546a812ba2d4ab9f1f7ede13b5992df586beda5241fd59bd'),
  (10, 'José Álvarez', 'jose.alvarez@correo.example', 'ES', '2023-06-02 18:44:21', 0, 'f33e9ca7286ec9793c2db51392a47f498f5d37d393cab3c0b0bd379a4a9af08e'),
  (11, 'Zoë Quinn', 'zoe@studio.example', 'BE', '2023-06-20 21:17:03', 0, '00970a6484d491e8e46852ebfdc0723f5c19c56228a1cff8ca69c8b21174411c'),
  (12, 'Linus Müller', 'linus.mueller@post.example', 'DE', '2023-07-07 06:25:48', 1, 'bc448cfc5547438f75e451da97b7253807c61cbe5961cca68f22be9a13185d11'),
  (13, '山田太郎', 'taro.yamada@denki.example', 'JP', '2023-07-25 23:59:59', 0, '266e84f565e0e4ebcacd48b55487145d05a86212e5966065d6507b7fcac83a32'),
  (14, 'Siobhán O''Brien', 'siobhan@obrien.example', 'IE', '2023-08-14 14:33:00', 0, 'fcd5b7c20a258c423c4faa0759a480fdeed243a2f3fc0d50d14f9087154d8bfd'),
  (15, 'Chiara Rossi', 'chiara.rossi@posta.example', 'IT', '2023-09-01 09:00:00', 1, '7fc669932293d10e074e35313422003e5fb9953cc1715641543b8849f3a4a52a'),
  (16, 'Nikola Petrović', 'nikola@tesla.example', 'RS', '2023-09-19 15:40:37', 0, 'dc11c944c2a1772fa002f6cc36605944b9c008dc0262a23ecc9f708d17948233'),
  (17, 'Fatima Al-Fihri', 'fatima@library.example', 'MA', '2023-10-05 11:11:11', 0, '86fe861e7aa767ddc0b8fd0ebec0626e551ede6c3c47453b18671a640bc8dd18'),
  (18, 'Chen Wei', 'wei.chen@mail.example', 'CN', '2023-11-13 04:20:16', 0, '5d9c9f620565d713e3a8ab6f80f4aa3f9905cc03be7c87d68bf099baf5b5d238'),
  (19, 'Amara Okafor', 'amara@okafor.example', 'NG', '2023-12-24 17:30:00', 1, '3f2baf968c1766143acb07376ea032ee08436ac07ee75b0b020b6a5070ea5ce4'),
  (20, 'Lars Eriksson', 'lars@fjord.example', 'SE', '2024-02-29 12:00:00', 0, 'f4fe8b87e642af04de0d180cc9260f415bc7570e2fe70c21bd95a68e27445a06'),
  (21, 'Priya Raman', 'priya.raman@mail.example', 'IN', '2024-04-18 08:08:08', 0, 'bc43ba35548953a76fdcca18b0e97ec7341a70d5a233a7120a0546502ad69427'),
  (22, 'Tomáš Novák', 'tomas.novak@posta.example', 'CZ', '2024-06-30 22:15:45', 0, 'a1f9c920ab0a847bd5f0e96da9d81464e86f200be4d1357807e98e21bb94f35c'),
  (23, 'Olivia Tremblay', 'olivia@tremblay.example', 'CA', '2024-09-09 13:13:13', 0, '6222c719bd80eef706bdfeea6e3e48a295d3518d9abf7e39c62635b75964af55'),
  (24, 'Anonymous Guest', NULL, NULL, '2024-11-21 00:00:01', 0, '5811358c36b366a7009a0ab3593a1e94d12061cce30b3e3236996c1d04b31dcf');

INSERT INTO products (sku, title, category, price, in_stock, supplier_cost) VALUES
  ('KB-087', 'Mechanical keyboard, 87 keys', 'input', 119.00, 42, 74.50),
  ('KB-104', 'Mechanical keyboard, 104 keys', 'input', 139.00, 17, 86.00),
  ('MS-001', 'Trackball mouse', 'input', 64.50, 88, 31.20),
  ('MS-002', 'Vertical mouse', 'input', 49.99, 0, 22.99),
  ('MN-027', 'Monitor 27" 4K', 'display', 449.00, 23, 338.00),
  ('MN-034', 'Ultrawide monitor 34"', 'display', 689.50, 6, 521.00),
  ('CB-C10', 'USB-C cable 1 m', 'cable', 9.90, 540, 1.80),
  ('CB-H20', 'HDMI cable 2 m', 'cable', 12.90, 310, 2.60),
  ('CB-E05', 'Ethernet cable 5 m', 'cable', 8.49, 275, 1.50),
  ('DK-011', 'Docking station, 11 ports', 'dock', 189.00, 31, 126.50),
  ('HD-001', 'Noise-cancelling headphones', 'audio', 249.00, 19, 154.00),
  ('MC-001', 'Condenser microphone', 'audio', 89.90, 54, 50.10),
  ('WC-004', 'Webcam 4K', 'video', 159.90, 12, 98.00),
  ('ST-001', 'Laptop stand, aluminium', 'desk', 39.90, 120, 14.75),
  ('LM-001', 'Desk lamp', 'desk', 54.90, 64, 27.00),
  ('GC-050', 'Gift card 50', NULL, 50.00, 9999, 50.00);

INSERT INTO orders (id, customer_id, status, total, placed_at, note, card_last4) VALUES
  (1001, 5, 'paid', 12.90, '2025-01-13 04:39:40.658', NULL, '5612'),
  (1002, 14, 'delivered', 89.90, '2025-01-15 09:25:58.682', NULL, '3532'),
  (1003, 2, 'delivered', 9.90, '2025-01-18 01:32:12.863', 'Leave it with the neighbour', '8199'),
  (1004, 16, 'paid', 248.80, '2025-01-21 14:03:20.164', NULL, '7639'),
  (1005, 8, 'delivered', 67.80, '2025-01-27 06:16:41.778', NULL, '3978'),
  (1006, 15, 'delivered', 209.90, '2025-02-02 03:56:06.581', NULL, '0167'),
  (1007, 4, 'delivered', 319.80, '2025-02-07 22:08:51.657', 'Invoice to the company, please', '8755'),
  (1008, 13, 'pending', 108.47, '2025-02-11 02:01:36.531', NULL, '9055'),
  (1009, 11, 'pending', 689.50, '2025-02-14 05:26:12.498', NULL, '7448'),
  (1010, 11, 'delivered', 129.00, '2025-02-20 04:40:29.478', NULL, '9593'),
  (1011, 5, 'cancelled', 349.00, '2025-02-21 03:52:13.554', NULL, '2067'),
  (1012, 4, 'refunded', 139.00, '2025-02-24 19:43:00.158', 'Gift: no price on the slip', '1570'),
  (1013, 15, 'shipped', 699.40, '2025-03-04 03:09:04.892', NULL, '8716'),
  (1014, 2, 'paid', 249.00, '2025-03-06 03:21:36.916', NULL, '7245'),
  (1015, 4, 'shipped', 49.99, '2025-03-09 05:51:46.119', NULL, '3091'),
  (1016, 14, 'shipped', 754.00, '2025-03-11 02:32:22.407', NULL, '7490'),
  (1017, 18, 'delivered', 64.50, '2025-03-13 08:22:36.768', NULL, '4594'),
  (1018, 2, 'refunded', 39.90, '2025-03-19 09:51:13.908', NULL, '5884'),
  (1019, 19, 'delivered', 16.98, '2025-03-25 23:51:09.808', 'Second attempt, the first parcel was lost 📦', '7694'),
  (1020, 8, 'shipped', 1429.00, '2025-03-30 07:25:29.660', NULL, '0329'),
  (1021, 19, 'shipped', 616.00, '2025-03-31 12:07:14.375', NULL, '2709'),
  (1022, 12, 'delivered', 247.90, '2025-04-03 06:43:45.029', NULL, '9886'),
  (1023, 8, 'paid', 205.98, '2025-04-08 00:06:14.650', NULL, '7107'),
  (1024, 12, 'shipped', 12.90, '2025-04-11 20:15:34.936', NULL, '7270'),
  (1025, 12, 'refunded', 308.00, '2025-04-16 02:13:09.541', NULL, '4863'),
  (1026, 10, 'delivered', 64.50, '2025-04-19 10:35:19.889', NULL, '8149'),
  (1027, 15, 'cancelled', 139.90, '2025-04-22 10:45:42.906', NULL, '6798'),
  (1028, 10, 'delivered', 538.90, '2025-04-30 03:19:05.433', 'Call before delivery', '5659'),
  (1029, 21, 'paid', 238.99, '2025-05-04 08:03:30.501', NULL, '6688'),
  (1030, 24, 'shipped', 12.90, '2025-05-08 21:09:10.573', NULL, '9208'),
  (1031, 19, 'delivered', 248.80, '2025-05-16 05:40:54.560', NULL, '5027'),
  (1032, 3, 'shipped', 638.00, '2025-05-21 11:50:12.640', NULL, '0622'),
  (1033, 15, 'paid', 977.80, '2025-05-28 09:06:13.718', 'it''s urgent', '9414'),
  (1034, 1, 'refunded', 249.00, '2025-05-30 15:38:01.164', NULL, '8520'),
  (1035, 19, 'delivered', 846.98, '2025-06-02 06:00:32.587', NULL, '1251'),
  (1036, 4, 'delivered', 308.90, '2025-06-03 11:20:15.117', NULL, '8919'),
  (1037, 2, 'delivered', 689.50, '2025-06-05 07:22:01.966', NULL, '9170'),
  (1038, 19, 'pending', 64.50, '2025-06-06 05:49:55.905', NULL, '8759'),
  (1039, 17, 'delivered', 58.49, '2025-06-08 14:58:54.949', NULL, '6883'),
  (1040, 16, 'paid', 392.49, '2025-06-16 04:53:07.425', NULL, '1895'),
  (1041, 3, 'paid', 308.00, '2025-06-19 03:08:56.854', NULL, '3612'),
  (1042, 15, 'delivered', 54.90, '2025-06-21 13:45:57.178', NULL, '1922'),
  (1043, 12, 'paid', 298.80, '2025-06-27 21:21:25.304', NULL, '9687'),
  (1044, 15, 'delivered', 99.98, '2025-06-29 03:10:43.209', NULL, '8448');

-- Each order's total is the sum of its lines.
INSERT INTO order_items (order_id, line_no, sku, qty, unit_price) VALUES
  (1001, 1, 'CB-H20', 1, 12.90),
  (1002, 1, 'GC-050', 1, 50.00),
  (1002, 2, 'ST-001', 1, 39.90),
  (1003, 1, 'CB-C10', 1, 9.90),
  (1004, 1, 'LM-001', 2, 54.90),
  (1004, 2, 'KB-104', 1, 139.00),
  (1005, 1, 'LM-001', 1, 54.90),
  (1005, 2, 'CB-H20', 1, 12.90),
  (1006, 1, 'WC-004', 1, 159.90),
  (1006, 2, 'GC-050', 1, 50.00),
  (1007, 1, 'WC-004', 2, 159.90),
  (1008, 1, 'CB-E05', 1, 8.49),
  (1008, 2, 'MS-002', 2, 49.99),
  (1009, 1, 'MN-034', 1, 689.50),
  (1010, 1, 'MS-001', 2, 64.50),
  (1011, 1, 'GC-050', 2, 50.00),
  (1011, 2, 'HD-001', 1, 249.00),
  (1012, 1, 'KB-104', 1, 139.00),
  (1013, 1, 'MN-034', 1, 689.50),
  (1013, 2, 'CB-C10', 1, 9.90),
  (1014, 1, 'HD-001', 1, 249.00),
  (1015, 1, 'MS-002', 1, 49.99),
  (1016, 1, 'MN-034', 1, 689.50),
  (1016, 2, 'MS-001', 1, 64.50),
  (1017, 1, 'MS-001', 1, 64.50),
  (1018, 1, 'ST-001', 1, 39.90),
  (1019, 1, 'CB-E05', 2, 8.49),
  (1020, 1, 'GC-050', 1, 50.00),
  (1020, 2, 'MN-034', 2, 689.50),
  (1021, 1, 'KB-087', 2, 119.00),
  (1021, 2, 'DK-011', 2, 189.00),
  (1022, 1, 'CB-C10', 1, 9.90),
  (1022, 2, 'KB-087', 2, 119.00),
  (1023, 1, 'CB-E05', 2, 8.49),
  (1023, 2, 'DK-011', 1, 189.00),
  (1024, 1, 'CB-H20', 1, 12.90),
  (1025, 1, 'DK-011', 1, 189.00),
  (1025, 2, 'KB-087', 1, 119.00),
  (1026, 1, 'MS-001', 1, 64.50),
  (1027, 1, 'MC-001', 1, 89.90),
  (1027, 2, 'GC-050', 1, 50.00),
  (1028, 1, 'MN-027', 1, 449.00),
  (1028, 2, 'MC-001', 1, 89.90),
  (1029, 1, 'DK-011', 1, 189.00),
  (1029, 2, 'MS-002', 1, 49.99),
  (1030, 1, 'CB-H20', 1, 12.90),
  (1031, 1, 'KB-104', 1, 139.00),
  (1031, 2, 'LM-001', 2, 54.90),
  (1032, 1, 'DK-011', 1, 189.00),
  (1032, 2, 'MN-027', 1, 449.00),
  (1033, 1, 'ST-001', 2, 39.90),
  (1033, 2, 'MN-027', 2, 449.00),
  (1034, 1, 'HD-001', 1, 249.00),
  (1035, 1, 'MS-002', 2, 49.99),
  (1035, 2, 'HD-001', 3, 249.00),
  (1036, 1, 'GC-050', 2, 50.00),
  (1036, 2, 'KB-087', 1, 119.00),
  (1036, 3, 'MC-001', 1, 89.90),
  (1037, 1, 'MN-034', 1, 689.50),
  (1038, 1, 'MS-001', 1, 64.50),
  (1039, 1, 'GC-050', 1, 50.00),
  (1039, 2, 'CB-E05', 1, 8.49),
  (1040, 1, 'MS-002', 1, 49.99),
  (1040, 2, 'KB-104', 2, 139.00),
  (1040, 3, 'MS-001', 1, 64.50),
  (1041, 1, 'DK-011', 1, 189.00),
  (1041, 2, 'KB-087', 1, 119.00),
  (1042, 1, 'LM-001', 1, 54.90),
  (1043, 1, 'MC-001', 2, 89.90),
  (1043, 2, 'KB-087', 1, 119.00),
  (1044, 1, 'MS-002', 2, 49.99);

INSERT INTO api_keys (service, secret) VALUES
  ('payments', 'demo-secret-payments-5c1e'),
  ('parcels', 'demo-secret-parcels-90ad');

INSERT INTO archive.orders (id, customer_id, status, total, placed_at) VALUES
  (101, 12, 'delivered', 126.31, '2023-02-17 14:05:00'),
  (102, 2, 'refunded', 660.57, '2023-03-16 14:17:00'),
  (103, 8, 'delivered', 118.73, '2023-04-11 02:15:00'),
  (104, 12, 'delivered', 527.23, '2023-04-24 11:42:00'),
  (105, 4, 'refunded', 855.10, '2023-05-17 13:21:00'),
  (106, 3, 'cancelled', 205.41, '2023-06-13 22:38:00'),
  (107, 10, 'delivered', 576.05, '2023-06-30 10:08:00'),
  (108, 4, 'delivered', 368.72, '2023-07-15 21:55:00'),
  (109, 10, 'cancelled', 546.34, '2023-08-13 09:38:00'),
  (110, 10, 'delivered', 346.13, '2023-08-29 21:51:00'),
  (111, 4, 'cancelled', 195.77, '2023-09-12 10:16:00'),
  (112, 19, 'delivered', 304.86, '2023-10-04 22:14:00'),
  (113, 5, 'delivered', 475.46, '2023-10-16 06:26:00'),
  (114, 19, 'delivered', 137.37, '2023-11-10 09:10:00'),
  (115, 10, 'delivered', 745.16, '2023-12-12 19:45:00'),
  (116, 5, 'delivered', 466.24, '2023-12-28 22:43:00'),
  (117, 19, 'delivered', 193.20, '2024-01-18 02:36:00'),
  (118, 9, 'delivered', 172.54, '2024-02-04 05:12:00'),
  (119, 10, 'refunded', 750.13, '2024-02-27 13:51:00'),
  (120, 5, 'delivered', 820.33, '2024-03-30 22:06:00'),
  (121, 10, 'delivered', 750.57, '2024-04-17 09:59:00'),
  (122, 8, 'delivered', 302.99, '2024-05-06 13:55:00');
